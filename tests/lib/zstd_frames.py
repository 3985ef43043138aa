# SPDX-License-Identifier: GPL-2.0-or-later
"""Write zstd frames without a compressor, so that tests choose each field.

The content is stored, or in part a repeated byte; see RFC 8878.
"""

import struct

MAGIC = 0xfd2fb528
SKIPPABLE = 0x184d2a50
SEEK_TABLE = 0x184d2a5e
SEEKABLE_MAGIC = 0x8f92eab1
BLOCK_BYTES = 128 * 1024
ALIGN = 4096
RAW, RLE = 0, 1

MASK = (1 << 64) - 1
PRIMES = (11400714785074694791, 14029467366897019727, 1609587929392839161,
          9650029242287828579, 2870177450012600261)


def rotated(x, n):
    """Rotate 64 bits to the left."""
    return (x << n | x >> (64 - n)) & MASK


def round_of(acc, word):
    """Return an accumulator after one word."""
    return rotated((acc + word * PRIMES[1]) & MASK, 31) * PRIMES[0] & MASK


def xxh64(data):
    """Return the checksum of a frame's content, before it is cut to 32 bits."""
    n, at = len(data), 0
    if n >= 32:
        accs = [(PRIMES[0] + PRIMES[1]) & MASK, PRIMES[1], 0, -PRIMES[0] & MASK]
        for at in range(0, n - 31, 32):
            accs = [round_of(acc, word) for acc, word in
                    zip(accs, struct.unpack_from("<4Q", data, at))]
        at += 32
        h = sum(rotated(acc, i) for acc, i in zip(accs, (1, 7, 12, 18))) & MASK
        for acc in accs:
            h = ((h ^ round_of(0, acc)) * PRIMES[0] + PRIMES[3]) & MASK
    else:
        h = PRIMES[4]
    h = (h + n) & MASK
    for at in range(at, n - 7, 8):
        word, = struct.unpack_from("<Q", data, at)
        h = (rotated(h ^ round_of(0, word), 27) * PRIMES[0] + PRIMES[3]) & MASK
    at = n & ~7
    if n - at >= 4:
        word, = struct.unpack_from("<I", data, at)
        h = (rotated(h ^ word * PRIMES[0] & MASK, 23) * PRIMES[1] + PRIMES[2]) & MASK
        at += 4
    for byte in data[at:]:
        h = rotated(h ^ byte * PRIMES[4] & MASK, 11) * PRIMES[0] & MASK
    h = (h ^ h >> 33) * PRIMES[1] & MASK
    h = (h ^ h >> 29) * PRIMES[2] & MASK
    return h ^ h >> 32


def block(kind, size, content, last):
    """Return one block: its header and content."""
    return struct.pack("<I", last | kind << 1 | size << 3)[:3] + content


def header(size, checksum=True, dictionary=0, window=None):
    """Return the header of a frame; size None: the header has no content size.
    window: byte of the window size, instead of a frame of one segment."""
    form = 0 if size is None else 3
    descriptor = (form << 6 | (window is None) << 5 | checksum << 2 |
                  (3 if dictionary else 0))
    return (struct.pack("<IB", MAGIC, descriptor) +
            (b"" if window is None else bytes([window])) +
            (struct.pack("<I", dictionary) if dictionary else b"") +
            (b"" if size is None else struct.pack("<Q", size)))


def frame(data, size=-1, checksum=True, **fields):
    """Return a frame with stored content. size: the stated content size."""
    blocks = b""
    for at in range(0, max(len(data), 1), BLOCK_BYTES):
        part = data[at:at + BLOCK_BYTES]
        blocks += block(RAW, len(part), part, at + BLOCK_BYTES >= len(data))
    return (header(len(data) if size == -1 else size, checksum, **fields) +
            blocks + (struct.pack("<I", xxh64(data) & 0xffffffff)
                      if checksum else b""))


def repeated(byte, n):
    """Return a small frame whose content is a byte n times."""
    blocks = b""
    for at in range(0, n, BLOCK_BYTES):
        size = min(BLOCK_BYTES, n - at)
        blocks += block(RLE, size, bytes([byte]), at + size == n)
    return header(n, False) + blocks


def skippable(data, number=0):
    """Return a frame that readers skip."""
    return struct.pack("<II", SKIPPABLE + number, len(data)) + data


def padded(packed):
    """Append a skippable frame that ends at a multiple of ALIGN bytes."""
    rest = -len(packed) % ALIGN
    return packed + (skippable(bytes((rest - 8) % ALIGN)) if rest else b"")


def seek_table(sizes):
    """Return a seek table of [(compressed size, content size)]."""
    data = b"".join(struct.pack("<II", *pair) for pair in sizes)
    return skippable(data + struct.pack("<IBI", len(sizes), 0, SEEKABLE_MAGIC),
                     SEEK_TABLE - SKIPPABLE)


def frames(data, size, pack=frame, padding=True, table=True):
    """Return data as kmemtraced writes it, in frames of size bytes of content."""
    out, sizes = bytearray(), []
    for at in range(0, len(data), size):
        part = data[at:at + size]
        packed = pack(part)
        out += packed
        sizes.append((len(packed), len(part)))
        rest = -len(out) % ALIGN if padding else 0
        if rest:
            out += skippable(bytes((rest - 8) % ALIGN))
            sizes.append((8 + (rest - 8) % ALIGN, 0))
    return bytes(out) + (seek_table(sizes) if table else b"")
