// Tests lull on OME-Zarr stores that zarr-python writes and reads.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <tuple>

#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Returns the output of a Python program; no value if the module zarr is missing.
std::optional<std::string> run_python(const std::string& program, const std::string& arguments) {
  const auto run = [](const std::string& command) {
    std::string text;
    FILE* pipe = popen(command.c_str(), "r");
    char part[256];
    while (pipe && fgets(part, sizeof part, pipe)) text += part;
    return std::pair{pipe ? pclose(pipe) : -1, text};
  };
  if (run(python() + " -c 'import zarr' 2>/dev/null").first != 0) return std::nullopt;
  const auto [code, text] =
      run(python() + " -W ignore -c '" + program + "' " + arguments + " 2>&1");
  EXPECT_EQ(code, 0) << text;
  return text;
}

class ZarrRuns : public ::testing::Test {
 protected:
  /// Writes a store of 2 channels with 8 slices and noise, and a second level and labels.
  bool make_store(const std::string& type, const std::string& codec) const {
    return run_python(R"(
import sys, numpy, zarr, numcodecs
path, dtype, codec = sys.argv[1:]
new = int(zarr.__version__.split(".")[0]) >= 3
group = zarr.open_group(path, mode="w", **({"zarr_format": 2} if new else {}))
def add(group, name, data, chunks):
    if new:
        array = group.create_array(name, shape=data.shape, dtype=data.dtype, chunks=chunks,
                                   compressors=eval(codec),
                                   chunk_key_encoding={"name": "v2", "separator": "/"})
        array[...] = data
    else:
        group.create_dataset(name, data=data, chunks=chunks, compressor=eval(codec),
                             dimension_separator="/")
y, x = numpy.mgrid[0:40, 0:48]
clean = 500 + 200 * numpy.sin(x / 9) * numpy.cos(y / 7)
noise = numpy.random.default_rng(1).normal(0, 40, (2, 8, 40, 48))
data = (clean + noise * numpy.array([1, 0.5]).reshape(2, 1, 1, 1)).astype(dtype)
add(group, "0", data, (1, 3, 32, 32))
add(group, "1", data[..., ::2, ::2], (1, 3, 32, 32))
add(group.require_group("labels"), "cells", numpy.ones((8, 40, 48), "u1"), (8, 40, 48))
axes = [{"name": "c", "type": "channel"}] + [
    {"name": n, "type": "space", "unit": "micrometer"} for n in "zyx"]
datasets = [{"path": p, "coordinateTransformations": [{"type": "scale", "scale": [1, 2, s, s]}]}
            for p, s in (("0", 0.25), ("1", 0.5))]
group.attrs["multiscales"] = [{"version": "0.4", "axes": axes, "datasets": datasets}]
group.attrs["omero"] = {"channels": [{"label": "DAPI"}, {"label": "GFP & more"}]}
)",
                      (folder / "in.zarr") + " \"" + type + "\" \"" + codec + "\"")
        .has_value();
  }
  /// Writes a store whose levels have the given sizes.
  bool make_levels(const std::vector<std::string>& sizes) const {
    std::string arguments = folder / "in.zarr";
    for (const std::string& size : sizes) arguments += " \"" + size + "\"";
    return run_python(R"(
import sys, numpy, zarr
new = int(zarr.__version__.split(".")[0]) >= 3
group = zarr.open_group(sys.argv[1], mode="w", **({"zarr_format": 2} if new else {}))
sizes = [tuple(int(n) for n in size.split(",")) for size in sys.argv[2:]]
for i, size in enumerate(sizes):
    data = numpy.random.default_rng(i).integers(0, 60000, size).astype("<u2")
    if new: group.create_array(str(i), shape=size, dtype=data.dtype, chunks=size)[...] = data
    else: group.create_dataset(str(i), data=data, chunks=size)
scale = lambda size: [{"type": "scale", "scale": [a / b for a, b in zip(sizes[0], size)]}]
axes = [{"name": name, "type": "space"} for name in "zyx"]
datasets = [{"path": str(i), "coordinateTransformations": scale(s)} for i, s in enumerate(sizes)]
group.attrs["multiscales"] = [{"version": "0.4", "axes": axes, "datasets": datasets}]
)",
                      arguments)
        .has_value();
  }
  Outcome denoise(const std::string& in, const std::string& out,
                  const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{folder / in, folder / out, "--device", "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_lull(arguments);
  }
  Folder folder;
};

TEST_F(ZarrRuns, ChannelsOfAStoreImproveAndAllElseIsEqualForZarrPython) {
  for (const auto& [type, codec] :
       {std::pair{"<u2", "numcodecs.Blosc(cname=\\\"zstd\\\", clevel=3, shuffle=1)"},
        std::pair{">f4", "numcodecs.GZip(4)"}}) {
    std::filesystem::remove_all(folder / "in.zarr");
    if (!make_store(type, codec)) GTEST_SKIP() << "python3 has no zarr";
    const Outcome outcome = denoise("in.zarr", "out.zarr", {"-y"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("2 channels, 8 slices, 1 time point"));
    EXPECT_THAT(outcome.err, HasSubstr("noise: channel 2:"));
    const auto text = run_python(R"(
import sys, numpy, zarr
a, b = (zarr.open_group(path, mode="r") for path in sys.argv[1:])
assert dict(a.attrs) == dict(b.attrs)
for name in ("0", "1", "labels/cells"):
    x, y = a[name], b[name]
    assert (x.shape, x.chunks, x.dtype, x.order) == (y.shape, y.chunks, y.dtype, y.order), name
    if hasattr(x, "compressors"): assert x.compressors == y.compressors
    else: assert x.compressor == y.compressor
assert (b["labels/cells"][...] == 1).all()
y, x = numpy.mgrid[0:40, 0:48]
clean = 500 + 200 * numpy.sin(x / 9) * numpy.cos(y / 7)
def rms(values): return float(((numpy.asarray(values, float) - clean) ** 2).mean()) ** 0.5
for channel in (0, 1):
    before, after = rms(a["0"][channel]), rms(b["0"][channel])
    assert after < before / 2.5, (before, after)
full = numpy.asarray(b["0"][...], float)
means = (full[..., ::2, ::2] + full[..., 1::2, ::2] + full[..., ::2, 1::2] + full[..., 1::2, 1::2]) / 4
print(float(abs(means - numpy.asarray(b["1"][...], float)).max()) <= 0.5)
)",
                                 (folder / "in.zarr") + " " + (folder / "out.zarr"));
    EXPECT_EQ(*text, "True\n");
  }
}

TEST_F(ZarrRuns, OmeTiffMadeOfAStoreHasItsAxesAndSizesForTifffile) {
  if (!make_store("<u2", "None")) GTEST_SKIP() << "python3 has no zarr";
  const Outcome there = denoise("in.zarr", "a.ome.tif", {"--sigma", "0"});
  ASSERT_EQ(there.code, 0) << there.err;
  EXPECT_THAT(there.err, HasSubstr("not in the output: the group 'labels'"));
  const Outcome back = denoise("a.ome.tif", "back.zarr", {"--sigma", "0"});
  ASSERT_EQ(back.code, 0) << back.err;
  const auto text = run_python(
      R"(
import sys, zarr, tifffile
store, path, back = sys.argv[1:]
data = zarr.open_group(store, mode="r")["0"][...]
with tifffile.TiffFile(path) as file:
    assert file.is_ome and file.series[0].axes == "CZYX", file.series[0].axes
    assert (file.asarray() == data).all()
    levels = file.series[0].levels
    assert [level.shape for level in levels] == [(2, 8, 40, 48), (2, 8, 20, 24)]
    assert all(level.keyframe.is_tiled for level in levels)
    means = data.astype(float).reshape(2, 8, 20, 2, 24, 2).mean(axis=(3, 5))
    assert abs(levels[1].asarray() - means).max() <= 0.5
    pixels = tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]["Pixels"]
print(pixels["PhysicalSizeX"], pixels["PhysicalSizeZ"], [c["Name"] for c in pixels["Channel"]])
group = zarr.open_group(back, mode="r")
assert (group["0"][...] == data).all()
scales = group.attrs["multiscales"][0]["datasets"][0]["coordinateTransformations"][0]["scale"]
print(scales, [c["label"] for c in group.attrs["omero"]["channels"]])
)",
      (folder / "in.zarr") + " " + (folder / "a.ome.tif") + " " + (folder / "back.zarr"));
  EXPECT_EQ(*text,
            "0.25 2 ['DAPI', 'GFP & more']\n[1.0, 2.0, 0.25, 0.25] ['DAPI', 'GFP & more']\n");
}

TEST_F(ZarrRuns, LevelsWithFewerSlicesBecomeLevelsWithAllSlicesInOmeTiff) {
  if (!make_levels({"8, 400, 300", "4, 200, 150", "2, 200, 150", "1, 50, 38"}))
    GTEST_SKIP() << "python3 has no zarr";
  const Outcome run = denoise("in.zarr", "a.ome.tif", {"--sigma", "0", "--log-level", "info"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("the levels of the pyramid get all slices"));
  EXPECT_THAT(run.err, Not(HasSubstr("not in the output")));
  const auto text = run_python(R"(
import sys, tifffile
with tifffile.TiffFile(sys.argv[1]) as file:
    print([level.shape for level in file.series[0].levels])
    print([page.tile for page in file.series[0].levels[0].pages][0], file.pages[0].subifds is None)
)",
                               folder / "a.ome.tif");
  EXPECT_EQ(*text, "[(8, 400, 300), (8, 200, 150), (8, 50, 38)]\n(256, 256) False\n");
}

TEST_F(ZarrRuns, LevelsThatAreNoSmallerCopiesAreLostInOmeTiff) {
  if (!make_levels({"8, 40, 30", "8, 60, 30"})) GTEST_SKIP() << "python3 has no zarr";
  const Outcome run = denoise("in.zarr", "a.ome.tif", {"--sigma", "0"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("not in the output: the pyramid (its levels are not smaller"));
}

TEST_F(ZarrRuns, OutputsAreRejectedBeforeTheNoiseIsEstimated) {
  if (!make_store("<u2", "None")) GTEST_SKIP() << "python3 has no zarr";
  ASSERT_EQ(denoise("in.zarr", "there.zarr", {"--sigma", "0"}).code, 0);
  write_bytes(folder / "there.tif", "before");
  std::filesystem::create_directory(folder / "other.zarr");
  write_bytes(folder / "other.zarr/note", "text");
  for (const auto& [out, code, message] :
       {std::tuple{"there.zarr", 73, "exists; give -y to overwrite it"},
        {"there.tif", 73, "exists; give -y to overwrite it"},
        {"other.zarr", 73, "exists and has other contents"},
        {"none/out.zarr", 73, "cannot create"},
        {"none/out.tif", 73, "cannot create"},
        {"out.mp4", 2, "cannot be made of a stack of planes"},
        {"out.nii", 2, "cannot be made of a stack of planes"}}) {
    const Outcome outcome = denoise("in.zarr", out, {"--noise", "auto"});
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(message));
    EXPECT_THAT(outcome.err, Not(HasSubstr("noise: ")));
  }
  EXPECT_EQ(bytes_of(folder / "there.tif"), "before");
}

TEST_F(ZarrRuns, FailedRunLeavesNoPartOfTheStore) {
  std::filesystem::create_directory(folder / "in.zarr");
  write_bytes(folder / "in.zarr/.zarray", "{\"zarr_format\":2,\"shape\":[8,32,40]");
  const Outcome outcome = denoise("in.zarr", "out.zarr");
  EXPECT_EQ(outcome.code, 65);
  EXPECT_THAT(outcome.err, HasSubstr("is not valid JSON"));
  EXPECT_FALSE(std::filesystem::exists(folder / "out.zarr"));
}

}  // namespace
}  // namespace lull::tools
