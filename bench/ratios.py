#!/usr/bin/env python3
"""Prints the speed relative to the best peer, by PSNR, as a Markdown table.

The data are docs/data/*_gpu.csv.

At each PSNR the table compares the fastest settings of lull and of the peers that reach it. The ratio
in parentheses interpolates between the measured settings of each peer, with ln(ms) linear in PSNR.
Requires only Python's standard library.

  bench/ratios.py [--from 28.5] [--to 29.9] [--must 2.5] [--goal 4]
"""

import argparse
import csv
import math
import pathlib

DATA = pathlib.Path(__file__).resolve().parent.parent / "docs" / "data"


def points(path):
    """Returns (ms, psnr, tool, setting) for each line."""
    with path.open(newline="") as file:
        return [(float(row["ms"]), float(row["psnr_db"]), row["tool"], row["setting"])
                for row in csv.DictReader(file)]


def fastest(table, psnr):
    return min((point for point in table if point[1] >= psnr), default=None)


def between(table, psnr):
    """Returns the time of the fastest peer at exactly this PSNR, interpolated between two settings."""
    best = math.inf
    for tool in {point[2] for point in table}:
        own = sorted((p, ms) for ms, p, name, _ in table if name == tool)
        for (low, fast), (high, slow) in zip(own, own[1:]):
            if low <= psnr <= high and low < high:
                share = (psnr - low) / (high - low)
                best = min(best, math.exp(math.log(fast) * (1 - share) + math.log(slow) * share))
    return best


def verdict(ratio, must, goal):
    return "goal" if ratio >= goal else "met" if ratio >= must else "MISSED"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="least", type=float, default=28.5, help="PSNR in dB")
    parser.add_argument("--to", dest="most", type=float, default=29.9, help="PSNR in dB")
    parser.add_argument("--must", type=float, default=2.5)
    parser.add_argument("--goal", type=float, default=4)
    options = parser.parse_args()
    ours, peers = points(DATA / "ours_gpu.csv"), points(DATA / "peers_gpu.csv")

    print("| PSNR dB | lull ms | its PSNR | setting | best peer ms | its PSNR | peer | ratio | |")
    print("|---" * 9 + "|")
    for tenths in range(round(options.least * 10), round(options.most * 10) + 1):
        psnr = tenths / 10
        our, peer = fastest(ours, psnr), fastest(peers, psnr)
        cells = [f"{psnr:.1f}"]
        cells += [f"{our[0]:.3f}", f"{our[1]:.2f}", our[3]] if our else ["-", "-", "none"]
        cells += ([f"{peer[0]:.2f}", f"{peer[1]:.2f}", f"{peer[2]}, {peer[3]}"] if peer
                  else ["-", "-", "none reaches it"])
        ratio = peer[0] / our[0] if our and peer else None
        middle = min(between(peers, psnr), peer[0]) / our[0] if ratio else 0
        cells += [f"{ratio:.2f} ({middle:.2f})", verdict(ratio, options.must, options.goal)] if ratio else (
            ["-", "goal" if our else "MISSED"])
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
