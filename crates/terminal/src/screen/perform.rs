//! What each escape sequence does.

use vte::{Params, Perform};

use super::Done;
use super::terminal::Terminal;

/// A terminal that `vte` tells what to do.
pub(super) struct Performer<'a> {
    pub(super) terminal: &'a mut Terminal,
    pub(super) done: Done<'a>,
}

impl Perform for Performer<'_> {
    fn execute(&mut self, byte: u8) {
        self.terminal.control(byte, self.done);
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], _: bool, byte: u8) {
        if let &[slot] = intermediates {
            return self.terminal.charset.designate(slot, byte);
        }
        match byte {
            _ if !intermediates.is_empty() => {}
            b'7' => self.terminal.save(),
            b'8' => self.terminal.restore(),
            b'D' => self.terminal.line_feed(self.done),
            b'E' => {
                self.terminal.line_feed(self.done);
                self.terminal.grid().carriage_return();
            }
            b'M' => self.terminal.grid().reverse_line_feed(),
            b'c' => self.terminal.reset(),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], _: bool, action: char) {
        // Who are you, where is the cursor, which mode is set, which version are you?
        if matches!((intermediates, action), (_, 'c' | 'n') | (b"?$" | b"$", 'p') | (b">", 'q')) {
            self.terminal.ask();
        }
        match intermediates {
            [] => self.plain(params, action),
            b"?" => self.private(params, action),
            b"!" if action == 'p' => self.terminal.soft_reset(),
            _ => {}
        }
    }
}

impl Performer<'_> {
    fn plain(&mut self, params: &Params, action: char) {
        let argument = |index| params.iter().nth(index).and_then(|p| p.first()).copied();
        let first = usize::from(argument(0).unwrap_or(0));
        let second = usize::from(argument(1).unwrap_or(0));
        // A count of nothing is one, and so is the first row or column.
        let count = first.max(1);
        let (y, x) = (count - 1, second.max(1) - 1);
        let grid = self.terminal.grid();
        let (row, column) = grid.cursor();
        match action {
            'A' => grid.up(count),
            'B' | 'e' => grid.down(count),
            'C' | 'a' => grid.go(row, column.saturating_add(count)),
            'D' => grid.go(row, column.saturating_sub(count)),
            'E' => {
                grid.down(count);
                grid.carriage_return();
            }
            'F' => {
                grid.up(count);
                grid.carriage_return();
            }
            'G' | '`' => grid.go(row, y),
            'H' | 'f' => grid.go(y, x),
            'I' => grid.tab_forward(count),
            'Z' => grid.tab_back(count),
            'd' => grid.go(y, column),
            'J' => grid.erase_screen(first),
            'K' => grid.erase_row(first),
            'L' => grid.insert_rows(count),
            'M' => grid.delete_rows(count),
            'P' => grid.edit(|row, column| row.delete(column, count)),
            '@' => grid.edit(|row, column| row.insert(column, count)),
            'X' => grid.edit(|row, column| row.erase(column, column.saturating_add(count))),
            'S' => self.terminal.scroll_up(count, self.done),
            'T' => grid.scroll_down(count),
            'b' => self.terminal.repeat(count, self.done),
            'r' => grid.set_region(y, second),
            's' => self.terminal.save(),
            'u' => self.terminal.restore(),
            'h' | 'l' if params.iter().any(|p| p == [4]) => self.terminal.insert = action == 'h',
            _ => {}
        }
    }

    fn private(&mut self, params: &Params, action: char) {
        let on = match action {
            'h' => true,
            'l' => false,
            _ => return,
        };
        for param in params {
            match (param, on) {
                ([47 | 1047 | 1049], on) => self.terminal.show_alternate(on),
                ([1048], true) => self.terminal.save(),
                ([1048], false) => self.terminal.restore(),
                _ => {}
            }
        }
    }
}
