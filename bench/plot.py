#!/usr/bin/env python3
"""Plots PSNR against time from docs/data/*.csv to docs/images/*.svg.

  python3 -m venv venv && venv/bin/pip install matplotlib && venv/bin/python bench/plot.py
"""

import collections
import csv
import pathlib

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "lull"  # equal figures give equal files
matplotlib.rcParams["svg.fonttype"] = "none"
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter  # noqa: E402

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
# Colours of Okabe and Ito 2008, distinct with all common colour vision deficiencies; lull is black.
COLOURS = ["#E69F00", "#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999"]
# Named settings of lull; other settings are dots on its line.
PROFILES = ["fast", "balanced", "high", "paper"]
MARKERS = ["s", "^", "D", "v", "P", "X", "<"]


def rows(path, column):
    """Returns (tool, setting, time, psnr) for each line of a file; empty if the file does not exist."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [(row["tool"], row["setting"], float(row[column]), float(row["psnr_db"]))
                for row in csv.DictReader(file)]


def by_tool(table):
    tools = collections.OrderedDict()
    for tool, setting, time, psnr in table:
        tools.setdefault(tool, []).append((time, psnr, setting))
    return tools


def front(points):
    """Returns the points that no other point beats in both time and PSNR, by ascending time."""
    best = []
    for point in sorted(points, key=lambda p: (p[0], -p[1])):
        if not best or point[1] > best[-1][1]:
            best.append(point)
    return best


def draw_peers(axes, peers):
    for i, (tool, points) in enumerate(by_tool(peers).items()):
        points.sort()
        axes.plot([p[0] for p in points], [p[1] for p in points], linewidth=1, markersize=7,
                  marker=MARKERS[i % len(MARKERS)], color=COLOURS[i % len(COLOURS)],
                  linestyle=":" if i >= len(MARKERS) else "-", label=tool)


def draw_ours(axes, ours, is_named, labels_right=False):
    for (tool, points), line, marker in zip(by_tool(ours).items(), "-:", "od"):
        best = front(points)
        axes.plot([p[0] for p in best], [p[1] for p in best], color="black", marker=".",
                  linewidth=2, linestyle=line, markersize=5, zorder=5)
        named = [p for p in points if is_named(p[2])]
        axes.plot([p[0] for p in named], [p[1] for p in named], color="black", marker=marker,
                  linewidth=0, markersize=8, label=tool, zorder=6)
        for time, psnr, setting in named:
            axes.annotate(setting, (time, psnr), textcoords="offset points",
                          xytext=(8, -10) if labels_right else (-6, 7),
                          ha="left" if labels_right else "right", fontsize=9)


def finish(axes, title, axis):
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel(axis)
    axes.set_ylabel("PSNR, dB (higher is better)")
    axes.set_title(title, fontsize=11)
    axes.margins(0.12)
    axes.grid(True, which="both", linewidth=0.4, alpha=0.5)
    axes.legend(fontsize=9, loc="lower right")


def save(figure, output):
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, metadata={"Date": None})
    print(output)


def plot(ours, peers, column, title, axis, output):
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    draw_peers(axes, rows(peers, column))
    draw_ours(axes, rows(ours, column), PROFILES.__contains__)
    finish(axes, title, axis)
    save(figure, output)


def plot_best(path, output):
    """Draws a panel for each value of the column `panel` of a file, which is also its title."""
    with path.open(newline="") as file:
        table = list(csv.DictReader(file))
    titles = list(dict.fromkeys(row["panel"] for row in table))
    figure, panels = plt.subplots(1, len(titles), figsize=(5 * len(titles), 4.5),
                                  layout="constrained")
    for axes, title in zip(panels, titles):
        points = [row for row in table if row["panel"] == title]
        tuples = [(row["tool"], row["setting"], float(row["time"]), float(row["psnr_db"]))
                  for row in points]
        draw_peers(axes, [p for p in tuples if p[0] != "lull"])
        draw_ours(axes, [p for p in tuples if p[0] == "lull"], bool, labels_right=True)
        finish(axes, title, points[0]["unit"])
    save(figure, output)


def main():
    data, images = DOCS / "data", DOCS / "images"
    plot(data / "ours_gpu.csv", data / "peers_gpu.csv", "ms",
         "One 1920x1080 grey frame, sigma 20, one H200: GPU time of both phases",
         "ms per frame (lower is better)", images / "psnr_against_time_gpu.svg")
    plot(data / "ours_cpu.csv", data / "peers_cpu.csv", "cpu_s_per_mpixel",
         "Set12, sigma 25: quality, and CPU time on 1920x1080",
         "CPU-seconds per million pixels (lower is better)",
         images / "psnr_against_time_cpu.svg")
    plot_best(data / "best.csv", images / "psnr_against_time_best.svg")


if __name__ == "__main__":
    main()
