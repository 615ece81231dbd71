// Reads raw files with LibRaw.

#include <libraw/libraw.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/error.h"
#include "core/frame_pool.h"
#include "io/files/regular_file.h"
#include "io/metadata/formats.h"
#include "io/raw/dng_tags.h"
#include "io/raw/raw_picture.h"

namespace lull::io {
namespace {

std::vector<std::uint8_t> read_bytes(const std::string& path) {
  RegularFile file(path);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(std::max<std::int64_t>(file.size(), 0)));
  bytes.resize(file.read(bytes.data(), bytes.size()));
  return bytes;
}

/// LibRaw calls this function for damaged data, instead of writing a message to standard error. The
/// type `Offset` differs between versions of LibRaw.
template <class Offset>
void ignore_damage(void*, const char*, Offset) {}

/// Owns a LibRaw object, and converts LibRaw's error codes to exceptions.
class Decoder {
 public:
  explicit Decoder(std::string name) : name_(std::move(name)), raw_(std::make_unique<LibRaw>()) {
    raw_->set_dataerror_handler(ignore_damage, nullptr);
  }
  LibRaw& operator*() { return *raw_; }
  LibRaw* operator->() { return raw_.get(); }

  void check(int status) const {
    if (status == LIBRAW_SUCCESS) return;
    if (status == LIBRAW_UNSUFFICIENT_MEMORY) throw std::bad_alloc();
    const char* why = status == LIBRAW_FILE_UNSUPPORTED ? "its format or compression is unknown"
                                                        : libraw_strerror(status);
    throw BadData("'" + name_ + "' (LibRaw cannot read it: " + why +
                  "); convert it to DNG with another program");
  }
  void open(std::vector<std::uint8_t>& bytes) {
    if (bytes.empty()) throw BadData("'" + name_ + "' (it is empty); check the file");
    check(raw_->open_buffer(bytes.data(), bytes.size()));
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw BadData("'" + name_ + "' (" + why + "); develop it first and denoise the picture");
  }

 private:
  std::string name_;
  std::unique_ptr<LibRaw> raw_;
};

/// Throws an error if the CFA pattern is not 2x2. The function reads the size of the pattern from
/// the DNG tags, because LibRaw treats some larger patterns as Bayer patterns.
void check_period(const Decoder& raw, const TiffTree& tags) {
  const TiffDirectory* directory = raw_picture_directory(tags);
  const TiffEntry* period = directory ? directory->find(dng::cfa_repeat) : nullptr;
  if (!period) return;
  const std::vector<double> sites = tags.numbers(*period);
  if (sites.size() != 2 || (sites[0] == 2 && sites[1] == 2)) return;
  if (sites[0] == 4 && sites[1] == 4)
    raw.refuse("it has a quad Bayer mosaic, which lull does not denoise");
  raw.refuse("its mosaic repeats every " + std::to_string(static_cast<int>(sites[1])) + "x" +
             std::to_string(static_cast<int>(sites[0])) +
             " sites, only Bayer mosaics are denoised");
}

/// The active area of the sensor (DNG's ActiveArea), in coordinates of the complete mosaic.
struct ActiveArea {
  int left, top, width, height;
  /// Number of rows at the top, and of columns at the left, that belong to the active area but that
  /// LibRaw omits: 0 or 1.
  int omitted_rows = 0, omitted_columns = 0;

  /// Returns LibRaw's number for the colour at a site of the active area. For LibRaw, an omitted
  /// row or column has the position -1. The function avoids negative positions: it adds 2 along
  /// each axis with an omitted row or column. The colour stays the same, because the CFA pattern
  /// repeats every 2 sites.
  int colour_index(Decoder& raw, int x, int y) const {
    return raw->COLOR(y + omitted_rows, x + omitted_columns);
  }
};

/// Returns the complete active area, to which the crop tags of a DNG file refer. If the area begins
/// at an odd row or column, LibRaw omits this row or column. The result includes the omitted row or
/// column.
ActiveArea active_area(const libraw_image_sizes_t& sizes, const TiffTree& tags) {
  ActiveArea area{.left = sizes.left_margin,
                  .top = sizes.top_margin,
                  .width = sizes.width,
                  .height = sizes.height};
  const TiffDirectory* directory = raw_picture_directory(tags);
  const TiffEntry* stated = directory ? directory->find(dng::active_area) : nullptr;
  const std::vector<double> sides = stated ? tags.numbers(*stated) : std::vector<double>();
  if (sides.size() != 4) return area;  // top, left, bottom, right
  if (sides[0] >= 0 && sides[0] + 1 == area.top) area.omitted_rows = 1;
  if (sides[1] >= 0 && sides[1] + 1 == area.left) area.omitted_columns = 1;
  area.top -= area.omitted_rows;
  area.height += area.omitted_rows;
  area.left -= area.omitted_columns;
  area.width += area.omitted_columns;
  return area;
}

/// Returns the 2x2 CFA pattern at the top-left corner of the active area.
std::array<std::uint8_t, 4> bayer_colours(Decoder& raw, const ActiveArea& area) {
  const libraw_iparams_t& camera = raw->imgdata.idata;
  if (camera.filters == 9) raw.refuse("it has an X-Trans mosaic, which lull does not denoise");
  if (camera.is_foveon || camera.filters < 1000 || !raw->imgdata.rawdata.raw_image)
    raw.refuse("it has no mosaic: each pixel has all colours, or it is monochrome");
  if (camera.colors != 3) raw.refuse("its mosaic has colours other than red, green and blue");
  const auto colour = [&](int x, int y) {
    const int index = area.colour_index(raw, x, y);
    return static_cast<std::uint8_t>(index == 3 ? 1 : index);
  };
  std::array<std::uint8_t, 4> sites{colour(0, 0), colour(1, 0), colour(0, 1), colour(1, 1)};
  bool is_bayer = sites[0] == 1 ? sites[3] == 1 && sites[1] + sites[2] == 2 && sites[1] != 1
                                : sites[1] == 1 && sites[2] == 1 && sites[0] + sites[3] == 2;
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 2; ++x) is_bayer &= colour(x, y) == sites[(y & 1) * 2 + x];
  if (!is_bayer) raw.refuse("its mosaic is not a Bayer mosaic");
  return sites;
}

/// Returns the black levels of the 2x2 sites from the tags of a DNG file; nullopt if there are
/// none. If the file describes masked pixels, LibRaw ignores these tags and measures the black
/// levels in the masked pixels. The measured levels differ between the frames of a sequence.
std::optional<std::array<float, 4>> stated_black_levels(const TiffTree& tags) {
  const TiffDirectory* directory = raw_picture_directory(tags);
  const auto values = [&](std::uint16_t tag) {
    const TiffEntry* entry = directory ? directory->find(tag) : nullptr;
    return entry ? tags.numbers(*entry) : std::vector<double>();
  };
  const std::vector<double> levels = values(dng::black), period = values(dng::black_repeat);
  const double rows = period.size() == 2 ? period[0] : 1,
               columns = period.size() == 2 ? period[1] : 1;
  if (!(rows >= 1 && columns >= 1 && rows * columns == static_cast<double>(levels.size())))
    return std::nullopt;
  double difference = 0;  // the mean over the columns and rows, as in LibRaw
  for (const std::uint16_t tag : {dng::black_delta_h, dng::black_delta_v})
    if (const std::vector<double> deltas = values(tag); !deltas.empty())
      difference +=
          std::accumulate(deltas.begin(), deltas.end(), 0.0) / static_cast<double>(deltas.size());
  std::array<float, 4> black{};
  for (int site = 0; site < 4; ++site) {
    const int x = (site & 1) % static_cast<int>(columns), y = (site >> 1) % static_cast<int>(rows);
    const double level = levels[static_cast<std::size_t>(y * static_cast<int>(columns) + x)];
    black[site] = static_cast<float>(level + difference);
    if (!(level >= 0 && black[site] >= 0 && black[site] <= 65535)) return std::nullopt;
  }
  return black;
}

std::array<float, 4> black_levels(Decoder& raw, const ActiveArea& area) {
  const libraw_colordata_t& colour = raw->imgdata.color;
  std::array<float, 4> black{};
  for (int site = 0; site < 4; ++site) {
    const int x = site & 1, y = site >> 1;
    unsigned level = colour.black + colour.cblack[area.colour_index(raw, x, y)];
    const unsigned rows = colour.cblack[4], columns = colour.cblack[5];
    if (rows > 0 && columns > 0) level += colour.cblack[6 + (y % rows) * columns + x % columns];
    black[site] = static_cast<float>(level);
  }
  return black;
}

std::array<float, 3> white_balance(const libraw_colordata_t& colour) {
  const float* factors =
      colour.cam_mul[0] > 0 && colour.cam_mul[2] > 0 ? colour.cam_mul : colour.pre_mul;
  const float green = factors[1] > 0 ? factors[1] : 1;
  std::array<float, 3> balance{1, 1, 1};
  for (int c = 0; c < 3; c += 2) {
    const float factor = factors[c] / green;
    if (std::isfinite(factor) && factor > 0.05f && factor < 20) balance[c] = factor;
  }
  return balance;
}

int orientation_of_flip(int flip) { return flip == 3 ? 3 : flip == 5 ? 8 : flip == 6 ? 6 : 1; }

void read_camera(Decoder& raw, RawFacts& facts) {
  const libraw_data_t& data = raw->imgdata;
  facts.balance = white_balance(data.color);
  for (int i = 0; i < 3; ++i)
    for (int c = 0; c < 3; ++c) {
      facts.srgb_from_camera[i][c] = data.color.rgb_cam[i][c];
      facts.camera_from_xyz[i][c] = static_cast<double>(data.color.cam_xyz[i][c]);
    }
  facts.make = data.idata.make;
  facts.model = data.idata.model;
  facts.orientation = orientation_of_flip(data.sizes.flip);
  if (data.other.iso_speed >= 1 && data.other.iso_speed < 1e8f)
    facts.iso = static_cast<std::uint32_t>(std::lround(data.other.iso_speed));
}

/// Reads the metadata of a raw file in a format other than DNG.
void read_metadata(const std::vector<std::uint8_t>& file, RawFacts& facts) {
  PictureMetadata metadata;
  read_tiff(file, metadata);
  facts.tags = tags_of_metadata(metadata);
  for (const NativeBlock& block : metadata.native)
    facts.omitted += (facts.omitted.empty() ? "" : ", ") + block.name;
}

Frame copy_mosaic(Decoder& raw, const ActiveArea& area) {
  FramePool pool({.width = area.width,
                  .height = area.height,
                  .layout = Layout::gray,
                  .sample = SampleType::u16,
                  .bits = 16});
  Frame mosaic = pool.acquire();
  const PlaneView<std::uint16_t> to = mosaic.plane<std::uint16_t>(0);
  const std::size_t stride = raw->imgdata.sizes.raw_pitch / sizeof(ushort);
  for (int y = 0; y < to.height; ++y)
    std::copy_n(raw->imgdata.rawdata.raw_image + (static_cast<std::size_t>(y) + area.top) * stride +
                    area.left,
                to.width, to.row(y));
  return mosaic;
}

void check_sizes(const Decoder& raw, const libraw_image_sizes_t& sizes, std::int64_t max_pixels) {
  if (std::int64_t{sizes.raw_width} * sizes.raw_height > max_pixels)
    raw.refuse("it has more than " + std::to_string(max_pixels) + " pixels");
  if (sizes.width < 16 || sizes.height < 16) raw.refuse("it has fewer than 16x16 pixels");
  if (sizes.left_margin + sizes.width > sizes.raw_width ||
      sizes.top_margin + sizes.height > sizes.raw_height)
    raw.refuse("its active area exceeds its mosaic");
}

}  // namespace

RawPicture read_raw(const std::string& path, std::int64_t max_pixels) {
  std::vector<std::uint8_t> bytes = read_bytes(path);
  auto facts = std::make_shared<RawFacts>();
  facts->path = path;
  facts->tags = read_tiff_tree(bytes);
  facts->is_dng = facts->tags.first.find(dng::version) != nullptr;
  Decoder raw(path);
  raw.open(bytes);
  check_sizes(raw, raw->imgdata.sizes, max_pixels);
  if (facts->is_dng) check_period(raw, facts->tags);
  raw.check(raw->unpack());
  if (raw->error_count() > 0)
    throw BadData("'" + path + "' (its samples are damaged); copy it again");
  const ActiveArea area = active_area(raw->imgdata.sizes, facts->tags);
  facts->colours = bayer_colours(raw, area);
  check_sizes(raw, raw->imgdata.sizes, max_pixels);
  facts->width = area.width;
  facts->height = area.height;
  const auto stated = facts->is_dng ? stated_black_levels(facts->tags) : std::nullopt;
  facts->black = stated ? *stated : black_levels(raw, area);
  facts->white = static_cast<float>(raw->imgdata.color.maximum);
  read_camera(raw, *facts);
  if (facts->is_dng)
    facts->noise_profile = noise_profile_of(facts->tags);
  else
    read_metadata(bytes, *facts);
  if (!(*std::ranges::max_element(facts->black) < facts->white))
    raw.refuse("its black level is not below its white level");
  return {facts, copy_mosaic(raw, area)};
}

Frame develop(std::span<const std::uint8_t> dng, Curve curve) {
  std::vector<std::uint8_t> bytes(dng.begin(), dng.end());
  Decoder raw("the denoised mosaic");
  libraw_output_params_t& params = raw->imgdata.params;
  params.use_camera_wb = 1;
  params.output_bps = 16;
  params.output_color = 1;  // sRGB
  params.no_auto_bright = 1;
  params.adjust_maximum_thr = 0;
  params.gamm[0] = curve == Curve::srgb ? 1 / 2.4 : 1;
  params.gamm[1] = curve == Curve::srgb ? 12.92 : 1;
  raw.open(bytes);
  raw.check(raw->unpack());
  raw.check(raw->dcraw_process());
  int status = LIBRAW_SUCCESS;
  const std::unique_ptr<libraw_processed_image_t, void (*)(libraw_processed_image_t*)> image(
      raw->dcraw_make_mem_image(&status), LibRaw::dcraw_clear_mem);
  raw.check(status);
  if (!image || image->colors != 3 || image->bits != 16)
    throw InternalError("LibRaw developed a picture that is not R G B of 16 bits");
  FramePool pool({.width = image->width,
                  .height = image->height,
                  .layout = Layout::rgb,
                  .sample = SampleType::u16,
                  .bits = 16});
  Frame developed = pool.acquire();
  const auto* from = reinterpret_cast<const ushort*>(image->data);
  for (int y = 0; y < image->height; ++y)
    for (int x = 0; x < image->width; ++x)
      for (int c = 0; c < 3; ++c) developed.plane<std::uint16_t>(c)(x, y) = *from++;
  return developed;
}

}  // namespace lull::io
