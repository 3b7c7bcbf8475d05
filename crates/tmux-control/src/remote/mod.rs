//! Other systems on which a tmux server runs, reached by ssh or by a command such as `docker exec`.

mod route;

pub use route::Route;
