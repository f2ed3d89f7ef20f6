"""Writes gray images as baseline JPEG files (ITU-T T.81), slowly and without other libraries."""

import math
import struct

# Quantization of luminance (table K.1), at about quality 90.
QUANTIZATION = [max(1, value // 5) for value in [
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56,
    14, 17, 22, 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99]]
# Places of a block by frequency: diagonals, each in the other direction than the one before.
ZIGZAG = sorted(((row, column) for row in range(8) for column in range(8)),
                key=lambda place: (sum(place), place[1 - sum(place) % 2]))
COSINES = [[math.cos((2 * x + 1) * u * math.pi / 16) * (math.sqrt(1 / 8) if u == 0 else 0.5)
            for x in range(8)] for u in range(8)]
# Huffman codes that are simple, not short: 8 bits each. There are too few symbols for a code of ones only,
# which is not allowed.
DC_SYMBOLS = list(range(12))
AC_SYMBOLS = [run << 4 | size for run in range(16) for size in range(1, 11)] + [0x00, 0xF0]


def encode(rows):
    """The file of an image, given as rows of numbers from 0 to 255."""
    height, width = len(rows), len(rows[0])
    scan = encode_scan(rows, height, width)
    return b"".join([
        b"\xff\xd8",
        segment(0xDB, b"\x00" + bytes(QUANTIZATION[8 * row + column] for row, column in ZIGZAG)),
        segment(0xC0, struct.pack(">BHHBBBB", 8, height, width, 1, 1, 0x11, 0)),
        segment(0xC4, huffman_table(0x00, DC_SYMBOLS)),
        segment(0xC4, huffman_table(0x10, AC_SYMBOLS)),
        segment(0xDA, bytes([1, 1, 0x00, 0, 63, 0])),
        scan,
        b"\xff\xd9",
    ])


def segment(marker, content):
    return struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content


def huffman_table(identity, symbols):
    counts = [0] * 16
    counts[7] = len(symbols)
    return bytes([identity] + counts + symbols)


def encode_scan(rows, height, width):
    bits = []
    last = 0
    for top in range(0, height, 8):
        for left in range(0, width, 8):
            # Blocks beyond the edge repeat its pixels.
            block = [[rows[min(top + y, height - 1)][min(left + x, width - 1)] - 128 for x in range(8)]
                     for y in range(8)]
            values = transform(block)
            encode_block(values, values[0] - last, bits)
            last = values[0]
    text = "".join(bits)
    text += "1" * (-len(text) % 8)
    content = int(text, 2).to_bytes(len(text) // 8, "big")
    return content.replace(b"\xff", b"\xff\x00")


def transform(block):
    """The quantized frequencies of a block, in zigzag order."""
    half = [[sum(row[x] * COSINES[u][x] for x in range(8)) for u in range(8)] for row in block]
    return [round(sum(half[y][u] * COSINES[v][y] for y in range(8)) / QUANTIZATION[8 * v + u])
            for v, u in ZIGZAG]


def encode_block(values, difference, bits):
    encode_number(DC_SYMBOLS, 0, difference, bits)
    zeros = 0
    for value in values[1:]:
        if value == 0:
            zeros += 1
            continue
        while zeros > 15:
            bits.append(code(AC_SYMBOLS, 0xF0))
            zeros -= 16
        encode_number(AC_SYMBOLS, zeros, value, bits)
        zeros = 0
    if zeros:
        bits.append(code(AC_SYMBOLS, 0x00))


def encode_number(symbols, zeros, value, bits):
    """The symbol for the number's size and the zeros before it, then the number itself."""
    size = abs(value).bit_length()
    bits.append(code(symbols, zeros << 4 | size))
    if size:
        bits.append(format(value if value > 0 else value + (1 << size) - 1, f"0{size}b"))


def code(symbols, symbol):
    return format(symbols.index(symbol), "08b")
