// Tests lull denoise on volumes and TIFF stacks. Readers other than lull's check the results where
// they are available.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tiffio.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "io/support/volumes.h"
#include "support/pictures.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using io::test::volume;
using io::test::VolumeSpec;
using ::testing::HasSubstr;

/// Returns a volume whose texture changes slowly from slice to slice, in its own units.
std::vector<double> clean_volume(int width, int height, int slices, double low, double span) {
  std::vector<double> values;
  for (int z = 0; z < slices; ++z) {
    const Plane<float> plane = lull::test_support::texture_picture(width, height, 0.1 * z);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) values.push_back(low + plane.view()(x, y) / 255 * span);
  }
  return values;
}

std::vector<double> with_noise(std::vector<double> values, double sigma) {
  std::mt19937 rng{11};
  std::normal_distribution<double> noise{0, sigma};
  for (double& v : values) v += noise(rng);
  return values;
}

template <class T>
std::vector<T> as(const std::vector<double>& values) {
  std::vector<T> result;
  for (const double v : values)
    result.push_back(static_cast<T>(std::is_integral_v<T> ? std::round(v) : v));
  return result;
}

template <class A, class B>
double rms_difference(const std::vector<A>& a, const std::vector<B>& b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

void write_file(const std::string& path, const io::test::File& bytes) {
  write_bytes(path, {bytes.begin(), bytes.end()});
}
io::test::File read_file(const std::string& path) {
  const std::string bytes = bytes_of(path);
  return {bytes.begin(), bytes.end()};
}

/// Returns the output of a Python program that uses a module; no value if the module is missing.
std::optional<std::string> run_python(const std::string& module, const std::string& program,
                                      const std::string& arguments) {
  const auto run = [](const std::string& command) {
    std::string text;
    FILE* pipe = popen(command.c_str(), "r");
    char part[256];
    while (pipe && fgets(part, sizeof part, pipe)) text += part;
    const int code = pipe ? pclose(pipe) : -1;
    return std::pair{code, text};
  };
  if (run(python() + " -c 'import " + module + "' 2>/dev/null").first != 0) return std::nullopt;
  const auto [code, text] = run(python() + " -c '" + program + "' " + arguments + " 2>&1");
  EXPECT_EQ(code, 0) << text;
  return text;
}

class Stacks : public ::testing::Test {
 protected:
  Outcome denoise(const std::string& in, const std::string& out, std::vector<std::string> more) {
    std::vector<std::string> arguments{"denoise", "-y",         "-i",       folder / in,
                                       "-o",      folder / out, "--device", "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_lull(arguments);
  }
  Folder folder;
};

TEST_F(Stacks, SigmaIsInTheUnitsOfTheVolume) {
  // Values around -1500 with a span of 3000, as 16-bit integers.
  const VolumeSpec spec{.dim = {64, 48, 6, 2}};
  const auto clean = clean_volume(64, 48, 12, -3000, 3000);
  const auto noisy = as<std::int16_t>(with_noise(clean, 200));
  write_file(folder / "in.nii", volume(spec, noisy));
  for (const char* axis : {"z", "y", "x"}) {
    const Outcome outcome =
        denoise("in.nii", "out.nii.gz",
                {"--sigma", "200", "--axis", axis, "--profile", "high", "--method", "bm3d"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    ASSERT_EQ(denoise("out.nii.gz", "out.nii", {"--sigma", "0"}).code, 0);
    const auto result = io::test::samples_of<std::int16_t>(read_file(folder / "out.nii"), spec);
    // BM3D gains several dB here; half the error is 6 dB. Along x and y the slices have 6 rows,
    // fewer than a patch, and pass through.
    const double before = rms_difference(clean, noisy), after = rms_difference(clean, result);
    if (*axis == 'z') {
      EXPECT_LT(after, before / 2);
    } else {
      EXPECT_EQ(after, before);
    }
  }
  // The header and everything else before the samples must be equal.
  const std::string in = bytes_of(folder / "in.nii"), out = bytes_of(folder / "out.nii");
  EXPECT_EQ(in.substr(0, 352), out.substr(0, 352));
}

TEST_F(Stacks, ScalesOfSigmaAgree) {
  const VolumeSpec spec{.dim = {32, 24, 1}, .datatype = 16, .bitpix = 32};
  auto values = as<float>(with_noise(clean_volume(32, 24, 1, 0, 10), 0.5));
  for (float& v : values) v = std::clamp(v, 0.0f, 10.0f);
  values.front() = 0;
  values.back() = 10;  // the range is 0 to 10
  write_file(folder / "in.nii", volume(spec, values));
  std::string first;
  for (const auto& [scale, sigma] : std::vector<std::pair<std::string, std::string>>{
           {"native", "0.5"}, {"8bit", "12.75"}, {"unit", "0.05"}}) {
    const Outcome outcome =
        denoise("in.nii", "out.nii", {"--sigma", sigma, "--sigma-scale", scale});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto result = io::test::samples_of<float>(read_file(folder / "out.nii"), spec);
    EXPECT_GT(rms_difference(values, result), 0.1);
    if (first.empty()) {
      first = bytes_of(folder / "out.nii");
    } else {
      const auto native = io::test::samples_of<float>({first.begin(), first.end()}, spec);
      EXPECT_LT(rms_difference(native, result), 1e-4) << scale;
    }
  }
  // For a video the 8-bit scale is the default. The scale of the video's own bit depth is
  // equivalent.
  write_pnm(folder / "in.pgm", noisy_picture(clean_picture({.width = 32, .height = 24}), 20));
  ASSERT_EQ(denoise("in.pgm", "out.pgm", {"--sigma", "20"}).code, 0);
  const std::string plain = bytes_of(folder / "out.pgm");
  ASSERT_EQ(denoise("in.pgm", "out.pgm", {"--sigma", "20", "--sigma-scale", "native"}).code, 0);
  EXPECT_EQ(bytes_of(folder / "out.pgm"), plain);
  // The same level in another unit, 20/255 of the range.
  ASSERT_EQ(denoise("in.pgm", "out.pgm", {"--sigma", "0.07", "--sigma-scale", "unit"}).code, 0);
  EXPECT_NE(bytes_of(folder / "out.pgm"), bytes_of(folder / "in.pgm"));
}

// Floats on a common scale: white is 255 or 1, whatever the range of the noise.
TEST_F(Stacks, WhiteLevelOfFloatsFollowsTheirScale) {
  const auto clean = clean_volume(64, 64, 2, 10, 230);
  const VolumeSpec spec{.dim = {64, 64, 2}, .datatype = 16, .bitpix = 32};
  const auto filtered = [&](double white, const std::string& scale, const std::string& sigma) {
    std::vector<double> values = with_noise(clean, 20);
    for (double& v : values) v *= white / 255;
    write_file(folder / "in.nii", volume(spec, as<float>(values)));
    const Outcome outcome =
        run_lull({"denoise", "-i", folder / "in.nii", "-o", folder / "out.nii", "-y", "--sigma",
                  sigma, "--sigma-scale", scale, "-d", "cpu", "--log-level", "info"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    if (scale != "native") {
      EXPECT_THAT(outcome.err, HasSubstr("in the file's own units"));
    }
    return io::test::samples_of<float>(read_file(folder / "out.nii"), spec);
  };
  for (const double white : {255.0, 1.0, 65535.0}) {
    SCOPED_TRACE(white);
    const auto native = filtered(white, "native", std::to_string(white * 20 / 255));
    const double little = 1e-4 * white;
    EXPECT_LT(rms_difference(native, filtered(white, "8bit", "20")), little);
    EXPECT_LT(rms_difference(native, filtered(white, "unit", std::to_string(20.0 / 255))), little);
  }
}

TEST_F(Stacks, InvalidInputsLeaveNoFile) {
  const VolumeSpec spec{.dim = {16, 16, 3}};
  const io::test::File whole = volume(spec, std::vector<std::int16_t>(768, 7));
  write_file(folder / "whole.nii", whole);
  write_file(folder / "cut.nii", {whole.begin(), whole.end() - 1});
  write_file(folder / "zip.nii.gz", {0x1f, 0x8b, 8, 0, 1, 2, 3});
  write_file(folder / "complex.nii", volume({.dim = {16, 16, 3}, .datatype = 32}, whole));
  const auto before = folder.names();
  const auto expect = [&](const std::string& in, const std::string& out,
                          const std::vector<std::string>& more, int code, const std::string& part) {
    const Outcome outcome = denoise(in, out, more);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(part));
    EXPECT_EQ(folder.names(), before);
  };
  expect("cut.nii", "out.nii", {"--sigma", "1"}, 65, "cut short");
  expect("zip.nii.gz", "out.nii", {"--sigma", "1"}, 65, "zip.nii.gz");
  expect("complex.nii", "out.nii", {"--sigma", "1"}, 65, "complex");
  expect("none.nii", "out.nii", {"--sigma", "1"}, 66, "no such file");
  expect("whole.nii", "out.mp4", {"--sigma", "1"}, 2, "NIfTI");
  expect("whole.nii", "out.nii", {"--sigma", "1", "--crf", "3"}, 2, "--crf");
  expect("whole.nii", "out.nii", {"--sigma", "1e39"}, 2, "sigma");
  expect("whole.nii", "out.nii", {"--sigma", "1", "--axis", "t"}, 2, "--axis");
  expect("whole.nii", "out.nii", {"--sigma", "1", "--datatype", "int8"}, 2, "--datatype");
  expect("whole.nii", "out.nii", {"--sigma", "1", "--sigma-scale", "10bit"}, 2, "--sigma-scale");
  expect("whole.nii", "none/out.nii", {"--sigma", "1"}, 73, "cannot create");
}

TEST_F(Stacks, FullDiskIsAnIoError) {
  const VolumeSpec spec{.dim = {64, 64, 8}};
  std::mt19937 rng{1};
  std::vector<std::int16_t> noise(64 * 64 * 8);
  for (auto& v : noise) v = static_cast<std::int16_t>(rng());
  write_file(folder / "in.nii", volume(spec, noise));
  for (const char* name : {"out.nii", "out.nii.gz"}) {
    const Outcome outcome = Program({"denoise", "-i", folder / "in.nii", "-o", folder / name,
                                     "--sigma", "10", "--device", "cpu", "-q"},
                                    {.file_size_limit = 20000})
                                .wait();
    EXPECT_EQ(outcome.code, 74) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_EQ(folder.names(), std::vector<std::string>{"in.nii"});
  }
}

TEST_F(Stacks, CompareWorksInTheUnitsOfTheFile) {
  const VolumeSpec spec{.dim = {16, 16, 2}, .datatype = 16, .bitpix = 32};
  std::vector<float> a(512), b;
  for (int i = 0; i < 512; ++i) a[i] = static_cast<float>(i % 101);  // a range of 100
  b = a;
  for (int i = 0; i < 512; ++i) b[i] += i % 2 ? 1.0f : -1.0f;
  write_file(folder / "a.nii", volume(spec, a));
  write_file(folder / "b.nii", volume(spec, b));
  const Outcome outcome = run_lull({"compare", folder / "a.nii", folder / "b.nii"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("40.0000"));  // 20 log10(100 / 1)
}

TEST_F(Stacks, NibabelReadsTheSameVolume) {
  const VolumeSpec spec{
      .version = 2, .big_endian = true, .dim = {20, 16, 5, 2}, .slope = 0.5, .inter = -10};
  io::test::File file = volume(spec, as<std::int16_t>(clean_volume(20, 16, 10, -500, 1000)));
  for (int i = 0; i < 8; ++i) io::test::put(file, 104 + 8 * i, 1.0 + i, true);  // pixdim
  for (int i = 344; i < 350; ++i) file[i] = 0;  // qform_code, sform_code ...
  for (int i = 350; i < 540; ++i) file[i] = 0;  // ... and all other fields that must be valid
  write_file(folder / "in.nii", file);
  ASSERT_EQ(denoise("in.nii", "out.nii.gz", {"--sigma", "20", "--datatype", "float32"}).code, 0);
  const auto text = run_python("nibabel", R"(
import sys, nibabel, numpy
a, b = (nibabel.load(p) for p in sys.argv[1:])
assert a.shape == b.shape == (20, 16, 5, 2)
assert numpy.array_equal(a.affine, b.affine) and a.header.get_zooms() == b.header.get_zooms()
assert b.get_data_dtype() == numpy.dtype(">f4") and type(a.header) == type(b.header)
for key in a.header:
  if key not in ("datatype", "bitpix", "scl_slope", "scl_inter"):
    assert a.header[key].tobytes() == b.header[key].tobytes(), key
d = a.get_fdata() - b.get_fdata()
print("rms", float((d * d).mean()) ** 0.5 < 20, bool((d != 0).any()))
)",
                               (folder / "in.nii") + " " + (folder / "out.nii.gz"));
  if (!text) GTEST_SKIP() << "python3 has no nibabel";
  EXPECT_EQ(*text, "rms True True\n");
}

void write_tiff(const std::string& path, const std::vector<float>& values, int width, int height) {
  TIFF* file = TIFFOpen(path.c_str(), "w");
  const std::size_t page = static_cast<std::size_t>(width) * height;
  for (std::size_t at = 0; at < values.size(); at += page) {
    TIFFSetField(file, TIFFTAG_IMAGEWIDTH, width);
    TIFFSetField(file, TIFFTAG_IMAGELENGTH, height);
    TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 32);
    TIFFSetField(file, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
    TIFFSetField(file, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(file, TIFFTAG_IMAGEDESCRIPTION, "ImageJ=1.54f\nimages=3\nslices=3\nunit=um\n");
    TIFFSetField(file, TIFFTAG_XRESOLUTION, 4.0);
    std::vector<float> samples(values.begin() + static_cast<std::ptrdiff_t>(at),
                               values.begin() + static_cast<std::ptrdiff_t>(at + page));
    TIFFWriteEncodedStrip(file, 0, samples.data(), static_cast<tmsize_t>(page * 4));
    TIFFWriteDirectory(file);
  }
  TIFFClose(file);
}

std::vector<float> read_tiff(const std::string& path, std::size_t page_size) {
  std::vector<float> result;
  TIFF* file = TIFFOpen(path.c_str(), "r");
  if (!file) throw std::runtime_error(path);
  const auto bytes = static_cast<tmsize_t>(page_size * sizeof(float));
  do {
    std::vector<float> page(page_size);
    EXPECT_EQ(TIFFReadEncodedStrip(file, 0, page.data(), bytes), bytes);
    result.insert(result.end(), page.begin(), page.end());
  } while (TIFFReadDirectory(file));
  TIFFClose(file);
  return result;
}

TEST_F(Stacks, TiffStackOfFloatsImproves) {
  const auto clean = clean_volume(48, 40, 3, 2000, 1000);
  const auto noisy = as<float>(with_noise(clean, 60));
  write_tiff(folder / "in.tif", noisy, 48, 40);
  const Outcome outcome = denoise("in.tif", "out.tif", {"--sigma", "60"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::vector<float> result = read_tiff(folder / "out.tif", 48 * 40);
  EXPECT_LT(rms_difference(clean, result), rms_difference(clean, noisy) / 1.8);

  const auto text = run_python("tifffile", R"(
import sys, tifffile
a, b = (tifffile.TiffFile(p) for p in sys.argv[1:])
assert b.is_imagej and b.imagej_metadata == a.imagej_metadata and b.imagej_metadata["unit"] == "um"
assert [p.tags["XResolution"].value for p in b.pages] == [(4, 1)] * 3
print(b.asarray().shape, b.asarray().dtype)
)",
                               (folder / "in.tif") + " " + (folder / "out.tif"));
  if (!text) GTEST_SKIP() << "python3 has no tifffile";
  EXPECT_EQ(*text, "(3, 40, 48) float32\n");
}

// Floats on the scale of bytes: --sigma has the same meaning in their own units and in 8-bit units.
TEST_F(Stacks, SigmaScalesAgreeForFloatsOnTheScaleOfBytes) {
  const auto clean = clean_volume(48, 40, 3, 0, 255);
  write_tiff(folder / "in.tif", as<float>(with_noise(clean, 12)), 48, 40);
  ASSERT_EQ(denoise("in.tif", "native.tif", {"--sigma", "12", "--sigma-scale", "native"}).code, 0);
  ASSERT_EQ(denoise("in.tif", "bytes.tif", {"--sigma", "12", "--sigma-scale", "8bit"}).code, 0);
  const std::vector<float> native = read_tiff(folder / "native.tif", 48 * 40),
                           bytes = read_tiff(folder / "bytes.tif", 48 * 40);
  // The results differ only by rounding.
  EXPECT_LT(rms_difference(native, bytes), 0.05);
  EXPECT_LT(rms_difference(clean, bytes), 12 / 1.8);
}

TEST_F(Stacks, NoiseOfARealHeadIsReduced) {
  const auto data = lull::test_support::data_folder();
  if (!data) GTEST_SKIP() << "LULL_TEST_DATA is not set; the made volumes are tested above";
  // A head with its own noise, and a series of two volumes: the residual must be noise.
  for (const char* name : {"chris_t1.nii.gz", "epi_4d.nii.gz"}) {
    const std::string in = (*data / "mri" / name).string();
    const Outcome outcome = run_lull({"denoise", "-i", in, "-o", folder / name, "--sigma", "8",
                                      "--profile", "fast", "--device", "cpu", "-q"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Outcome compared = run_lull({"compare", in, folder / name});
    EXPECT_EQ(compared.code, 0) << compared.err;
  }
}

}  // namespace
}  // namespace lull::tools
