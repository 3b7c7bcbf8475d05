#!/usr/bin/python3
"""Packs GNU Unifont into unifont.bin, without characters that another font or src/shapes renders.

Needs the Debian packages fonts-dejavu-core, fonts-unifont, unifont and python3-fonttools.
The format: the license, ended by a NUL; the number of pages (u16); the number (u16) and length
(u32) of each page; then the pages, compressed with deflate. A page covers 256 code points: a bit for
each that has a bitmap, a bit for each that is wide, then the bitmaps, 16 rows of one or two bytes.
All numbers are little-endian.
"""

import struct
import sys
import zlib
from collections import defaultdict
from pathlib import Path

from fontTools.pens.recordingPen import RecordingPen
from fontTools.ttLib import TTFont

DEJAVU = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf"
HEX = "/usr/share/unifont/unifont.hex"
UPPER = "/usr/share/fonts/opentype/unifont/unifont_upper.otf"

SHAPES = [(0x2500, 0x259F), (0x2800, 0x28FF), (0xE000, 0xF8FF), (0x1FB00, 0x1FB3B)]
# Mathematical letters; symbols, pictures and emoji.
UPPER_RANGES = [(0x1D400, 0x1D7FF), (0x1F000, 0x1FBFF)]

PIXEL = 4  # size of a pixel in font units
TOP = 56  # top of a bitmap in font units


def within(code, ranges):
    return any(first <= code <= last for first, last in ranges)


def bitmap(font, name):
    """Rasterizes an outline that consists of whole pixels."""
    pen = RecordingPen()
    glyph = font.getGlyphSet()[name]
    glyph.draw(pen)
    edges, at, start = [], None, None
    for verb, points in pen.value:
        if verb == "moveTo":
            at = start = points[0]
            continue
        to = start if verb == "closePath" else points[0]
        if at[0] == to[0] and at[1] != to[1]:
            edges.append((at[0], min(at[1], to[1]), max(at[1], to[1])))
        at = to
    width = 2 if glyph.width > 8 * PIXEL else 1
    rows = b""
    for row in range(16):
        y = TOP - PIXEL * row - PIXEL // 2
        crossed = [x for x, low, high in edges if low < y < high]
        bits = 0
        for column in range(8 * width):
            left = sum(x <= PIXEL * column for x in crossed)
            bits = bits << 1 | left % 2
        rows += bits.to_bytes(width, "big")
    return rows


def glyphs():
    known = TTFont(DEJAVU).getBestCmap()
    for line in open(HEX):
        code, bits = line.strip().split(":")
        if int(code, 16) not in known:
            yield int(code, 16), bytes.fromhex(bits)
    upper = TTFont(UPPER)
    for code, name in upper.getBestCmap().items():
        if within(code, UPPER_RANGES) and code not in known:
            yield code, bitmap(upper, name)


def main():
    license = Path(__file__).with_name("LICENSE-Unifont.txt").read_bytes()
    pages = defaultdict(dict)
    for code, bits in glyphs():
        if not within(code, SHAPES):
            pages[code >> 8][code & 255] = bits
    index, body = b"", b""
    for number, page in sorted(pages.items()):
        present = sum(1 << code for code in page)
        wide = sum(1 << code for code, bits in page.items() if len(bits) == 32)
        raw = present.to_bytes(32, "little") + wide.to_bytes(32, "little")
        raw += b"".join(page[code] for code in sorted(page))
        deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = deflate.compress(raw) + deflate.flush()
        index += struct.pack("<HI", number, len(packed))
        body += packed
    with open(sys.argv[1], "wb") as file:
        file.write(license + b"\0" + struct.pack("<H", len(pages)) + index + body)


main()
