//! Effects of escape sequences on the terminal.

use vte::{Params, Perform};

use super::LineSink;
use super::terminal::Terminal;

/// Adapter through which `vte` dispatches sequences to the terminal.
pub(super) struct Performer<'a> {
    pub(super) terminal: &'a mut Terminal,
    pub(super) sink: LineSink<'a>,
}

impl Perform for Performer<'_> {
    fn execute(&mut self, byte: u8) {
        self.terminal.control(byte, self.sink);
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], _: bool, byte: u8) {
        self.terminal.forget_last();
        if let &[slot] = intermediates {
            return self.terminal.charset.designate(slot, byte);
        }
        match byte {
            _ if !intermediates.is_empty() => {}
            b'7' => self.terminal.save(),
            b'8' => self.terminal.restore(),
            b'D' => self.terminal.grid().line_feed(self.sink),
            b'E' => {
                self.terminal.grid().line_feed(self.sink);
                self.terminal.grid().carriage_return();
            }
            b'M' => self.terminal.grid().reverse_line_feed(self.sink),
            b'c' => self.terminal.hard_reset(self.sink),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], _: bool, action: char) {
        // Queries for device attributes, status, cursor position, modes and version.
        if matches!((intermediates, action), (_, 'c' | 'n') | (b"?$" | b"$", 'p') | (b">", 'q')) {
            self.terminal.note_query();
        }
        match intermediates {
            [] => self.csi(params, action),
            b"?" => self.private_mode(params, action),
            _ => {}
        }
        self.terminal.forget_last();
    }
}

impl Performer<'_> {
    fn csi(&mut self, params: &Params, action: char) {
        let argument = |index| params.iter().nth(index).and_then(|p| p.first()).copied();
        let first = usize::from(argument(0).unwrap_or(0));
        let second = usize::from(argument(1).unwrap_or(0));
        // A missing or zero count is 1, and so is a missing row or column.
        let count = first.max(1);
        let (y, x) = (count - 1, second.max(1) - 1);
        let grid = self.terminal.grid();
        let (row, column) = grid.cursor();
        match action {
            'A' => grid.move_up(count),
            'B' => grid.move_down(count),
            'C' => grid.move_to(row, column.saturating_add(count)),
            'D' => grid.move_to(row, column.saturating_sub(count)),
            'E' => {
                grid.move_down(count);
                grid.carriage_return();
            }
            'F' => {
                grid.move_up(count);
                grid.carriage_return();
            }
            'G' | '`' => grid.move_to(row, y),
            'H' | 'f' => grid.move_to_absolute(y, x),
            'Z' => grid.tab_back(count),
            'd' => grid.place_cursor(y, column),
            'J' => self.terminal.erase_screen(first, self.sink),
            'K' => grid.erase_row(first, self.sink),
            'L' => grid.insert_rows(count, self.sink),
            'M' => grid.delete_rows(count, self.sink),
            'P' => grid.delete_chars(count, self.sink),
            '@' => grid.edit_at_cursor(|row, column| row.insert(column, count)),
            'X' => grid.erase_chars(count, self.sink),
            'S' => grid.scroll_up(count, self.sink),
            'T' => grid.scroll_down(count, self.sink),
            'b' => self.terminal.repeat(count, self.sink),
            'r' => grid.set_scroll_region(y, second),
            's' => self.terminal.save(),
            'u' => self.terminal.restore(),
            'h' | 'l' if params.iter().any(|p| p == [4]) => {
                self.terminal.modes.insert = action == 'h';
            }
            _ => {}
        }
    }

    fn private_mode(&mut self, params: &Params, action: char) {
        let on = match action {
            'h' => true,
            'l' => false,
            _ => return,
        };
        for param in params {
            match (param, on) {
                ([47 | 1047], on) => self.terminal.show_alternate(on, false),
                ([1049], on) => self.terminal.show_alternate(on, true),
                ([7], on) => self.terminal.modes.autowrap = on,
                _ => {}
            }
        }
    }
}
