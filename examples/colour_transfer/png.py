"""PNG files of 8 bits a channel, read and written with NumPy and nothing else."""

import struct
import zlib
from pathlib import Path

import numpy as np


def read_png(path: Path) -> np.ndarray:
    """height x width x 3, of colours in 0..1; an alpha channel is left out."""
    raw = path.read_bytes()
    if raw[:8] != b"\x89PNG\r\n\x1a\n":
        raise SystemExit(f"{path}: is no PNG file")
    at, packed = 8, b""
    width = height = channels = 0
    while at < len(raw):
        length, kind = struct.unpack(">I4s", raw[at : at + 8])
        chunk = raw[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", chunk)
            if depth != 8 or colour not in (2, 6) or interlaced:
                raise SystemExit(f"{path}: expected 8 bits of red, green and blue each, not interlaced")
            channels = 3 if colour == 2 else 4
        elif kind == b"IDAT":
            packed += chunk
        at += length + 12
    lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + width * channels)
    before = np.zeros((width, channels), int)
    image = np.empty((height, width, channels), int)
    for y, line in enumerate(lines):
        code, row = line[0], line[1:].reshape(width, channels).astype(int)
        if code == 1:
            row = np.cumsum(row, axis=0) % 256
        elif code == 2:
            row = (row + before) % 256
        elif code in (3, 4):
            left = np.zeros(channels, int)
            corner = np.zeros(channels, int)
            for x in range(width):
                above = before[x]
                if code == 3:
                    guess = (left + above) // 2
                else:
                    distances = np.abs([above - corner, left - corner, left + above - 2 * corner])
                    guess = np.choose(np.argmin(distances, axis=0), [left, above, corner])
                left = row[x] = (row[x] + guess) % 256
                corner = above
        image[y] = before = row
    return image[:, :, :3] / 255


def write_png(path: Path, image: np.ndarray) -> None:
    colours = np.clip(np.rint(image * 255), 0, 255).astype(np.uint8)
    # Each line as differences from the one above, which pack better.
    above = np.vstack([np.zeros_like(colours[:1]), colours[:-1]])
    lines = (colours - above).reshape(len(colours), -1)
    packed = zlib.compress(np.hstack([np.full((len(lines), 1), 2, np.uint8), lines]).tobytes(), 9)

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", colours.shape[1], colours.shape[0], 8, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b""))
