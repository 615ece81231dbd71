#include "io/tiff/tiff_picture.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "io/media.h"
#include "io/tiff/tiff_components.h"
#include "io/tiff/tiff_samples.h"

namespace lull::io {
namespace {

struct SampleKind {
  int colours;
  bool alpha;
  int bits;  // 32: floats
  AVPixelFormat format;
};

constexpr SampleKind kinds[] = {
    {1, false, 8, AV_PIX_FMT_GRAY8},    {1, false, 9, AV_PIX_FMT_GRAY9},
    {1, false, 10, AV_PIX_FMT_GRAY10},  {1, false, 12, AV_PIX_FMT_GRAY12},
    {1, false, 14, AV_PIX_FMT_GRAY14},  {1, false, 16, AV_PIX_FMT_GRAY16},
    {1, false, 32, AV_PIX_FMT_GRAYF32}, {1, true, 8, AV_PIX_FMT_YA8},
    {1, true, 16, AV_PIX_FMT_YA16},     {3, false, 8, AV_PIX_FMT_RGB24},
    {3, false, 9, AV_PIX_FMT_GBRP9},    {3, false, 10, AV_PIX_FMT_GBRP10},
    {3, false, 12, AV_PIX_FMT_GBRP12},  {3, false, 14, AV_PIX_FMT_GBRP14},
    {3, false, 16, AV_PIX_FMT_RGB48},   {3, false, 32, AV_PIX_FMT_GBRPF32},
    {3, true, 8, AV_PIX_FMT_RGBA},      {3, true, 10, AV_PIX_FMT_GBRAP10},
    {3, true, 12, AV_PIX_FMT_GBRAP12},  {3, true, 16, AV_PIX_FMT_RGBA64},
    {3, true, 32, AV_PIX_FMT_GBRAPF32}};

/// Returns the smallest pixel format that has at least `bits` bits per sample. If `alpha` is true,
/// the function prefers a format with alpha. If no format with alpha has enough bits, the result
/// has no alpha.
SampleKind kind_for(int colours, bool alpha, int bits) {
  for (const bool with_alpha : {alpha, false})
    for (const SampleKind& kind : kinds)
      if (kind.colours == colours && kind.alpha == with_alpha && kind.bits >= bits) return kind;
  return kinds[0];
}

/// Look-up table from an integer in the file to the sample value in the picture.
using Table = std::vector<std::uint16_t>;

Table table_for(int bits, int picture_bits, bool is_inverted) {
  const std::uint32_t from = (1u << bits) - 1, to = (1u << picture_bits) - 1;
  Table table(std::size_t{from} + 1);
  for (std::uint32_t i = 0; i <= from; ++i)
    table[i] = static_cast<std::uint16_t>(
        (std::uint64_t{is_inverted ? from - i : i} * to + from / 2) / from);
  return table;
}

using Palette = std::array<Table, 3>;

/// Returns the palette with 16 bits per colour. Scales 8-bit colours, which some programs store in
/// the lower byte of each value.
Palette palette_of(const TiffReader& reader, int bits) {
  std::array<const std::uint16_t*, 3> maps{};
  if (!TIFFGetField(reader.handle(), TIFFTAG_COLORMAP, &maps[0], &maps[1], &maps[2]))
    reader.fail("is damaged (its palette is missing)");
  Palette palette;
  bool has_high = false;
  for (int i = 0; i < 3; ++i) {
    palette[i].assign(maps[i], maps[i] + (std::size_t{1} << bits));
    has_high |= std::ranges::any_of(palette[i], [](std::uint16_t v) { return v > 255; });
  }
  if (!has_high)
    for (Table& table : palette)
      for (std::uint16_t& v : table) v = static_cast<std::uint16_t>(257 * v);
  return palette;
}

/// Reduces the palette to 8 bits per colour if this loses no information. Returns the number of
/// bits per colour.
int reduce(Palette& palette) {
  const auto is_reducible = [](std::uint16_t v) { return (v & 255) == 0 || (v & 255) == v >> 8; };
  for (const Table& table : palette)
    if (!std::ranges::all_of(table, is_reducible)) return 16;
  for (Table& table : palette)
    for (std::uint16_t& v : table) v >>= 8;
  return 8;
}

/// Converts the strips or tiles of a page to a picture.
class Importer {
 public:
  explicit Importer(TiffReader& reader) : reader_(reader), layout_(reader.layout()) {
    const bool is_integer = !layout_.is_float();
    if (layout_.form == SAMPLEFORMAT_INT) reader.refuse("signed integers (only stacks can)");
    int bits = is_integer && layout_.bits <= 16 ? layout_.bits : 32, colours = layout_.colours;
    if (layout_.photometric == PHOTOMETRIC_PALETTE) {
      palette_ = palette_of(reader, layout_.bits);
      bits = reduce(*palette_);
      colours = 3;
    }
    kind_ = kind_for(colours, layout_.alpha >= 0, std::max(bits, 8));
    const bool is_inverted = layout_.photometric == PHOTOMETRIC_MINISWHITE;
    if (is_integer && layout_.bits <= 16) {
      colour_ = table_for(layout_.bits, kind_.bits, is_inverted);
      alpha_ = table_for(layout_.bits, kind_.bits, false);
    }
    is_copied_ = !palette_ && layout_.bits == kind_.bits && !(is_inverted && is_integer) &&
                 (is_integer ? layout_.bits == 8 || layout_.bits == 16 : layout_.bits == 32);
  }

  FramePtr read() {
    picture_ = make_picture(kind_.format, layout_.width, layout_.height);
    reader_.read(layout_, [this](const TiffChunk<const std::uint8_t>& chunk) { add(chunk); });
    return std::move(picture_);
  }

 private:
  using Chunk = TiffChunk<const std::uint8_t>;

  void add(const Chunk& chunk) {
    const int bytes = kind_.bits > 16 ? 4 : kind_.bits > 8 ? 2 : 1;
    const PictureComponent first(*picture_, 0);
    // If `same` is true, memcpy() can copy whole rows of the strip or tile to the picture.
    const int all = kind_.colours + (kind_.alpha ? 1 : 0);
    const bool same = is_copied_ && chunk.samples == all && layout_.samples() == all &&
                      (!kind_.alpha || layout_.alpha == kind_.colours) &&
                      first.step() == all * bytes;
    raw_.resize(chunk.width);
    for (int y = 0; y < chunk.height; ++y) {
      if (same)
        std::memcpy(first.at(chunk.x, chunk.y + y), chunk.row(y),
                    static_cast<std::size_t>(chunk.width) * all * bytes);
      else
        for (int i = 0; i < chunk.samples; ++i) add_row(chunk, y, i);
    }
  }

  void add_row(const Chunk& chunk, int y, int i) {
    const int sample = chunk.first_sample + i;
    const bool is_alpha = sample == layout_.alpha && kind_.alpha;
    if (!is_alpha && sample >= layout_.colours) return;
    const TiffRow format{layout_.bits, chunk.samples, i};
    const int at_y = chunk.y + y;
    if (layout_.is_float() || layout_.bits > 16)
      return put_floats(chunk.row(y), format, is_alpha ? kind_.colours : sample, chunk.x, at_y);
    load_bits(chunk.row(y), format, raw_);
    if (is_alpha)
      put(alpha_, kind_.colours, chunk.x, at_y);
    else if (palette_)
      for (int c = 0; c < 3; ++c) put((*palette_)[c], c, chunk.x, at_y);
    else
      put(colour_, sample, chunk.x, at_y);
  }

  void put(const Table& table, int component, int x, int y) {
    const PictureComponent to(*picture_, component);
    if (kind_.bits == 8) {
      bytes_.resize(raw_.size());
      std::ranges::transform(raw_, bytes_.begin(),
                             [&](std::uint32_t v) { return static_cast<std::uint8_t>(table[v]); });
      to.put<std::uint8_t>(x, y, bytes_);
    } else {
      words_.resize(raw_.size());
      std::ranges::transform(raw_, words_.begin(), [&](std::uint32_t v) { return table[v]; });
      to.put<std::uint16_t>(x, y, words_);
    }
  }

  void put_floats(const std::uint8_t* row, const TiffRow& format, int component, int x, int y) {
    floats_.resize(raw_.size());
    if (format.bits == 64) {
      for (std::size_t i = 0; i < floats_.size(); ++i) {
        double value;
        std::memcpy(&value, row + 8 * (i * format.stride + format.offset), 8);
        floats_[i] = static_cast<float>(value);
      }
    } else {
      load_bits(row, format, raw_);
      const double maximum = format.bits == 24 ? 0xffffff : 0xffffffff;
      std::ranges::transform(raw_, floats_.begin(), [&](std::uint32_t v) {
        if (!layout_.is_float()) return static_cast<float>(v / maximum);
        return format.bits == 16 ? from_half(static_cast<std::uint16_t>(v))
                                 : std::bit_cast<float>(v);
      });
    }
    PictureComponent(*picture_, component).put<float>(x, y, floats_);
  }

  TiffReader& reader_;
  TiffLayout layout_;
  SampleKind kind_{};
  std::optional<Palette> palette_;
  Table colour_, alpha_;    // for integers of up to 16 bits
  bool is_copied_ = false;  // the samples of the page need no conversion
  FramePtr picture_;
  std::vector<std::uint32_t> raw_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint16_t> words_;
  std::vector<float> floats_;
};

void copy_properties(const TiffReader& reader, AVFrame& picture) {
  std::uint32_t bytes = 0;
  const void* profile = nullptr;
  if (TIFFGetField(reader.handle(), TIFFTAG_ICCPROFILE, &bytes, &profile) && bytes > 0)
    std::memcpy(non_null(av_frame_new_side_data(&picture, AV_FRAME_DATA_ICC_PROFILE, bytes))->data,
                profile, bytes);
  const auto x = tiff_tag<float>(reader.handle(), TIFFTAG_XRESOLUTION, 0);
  const auto y = tiff_tag<float>(reader.handle(), TIFFTAG_YRESOLUTION, 0);
  picture.sample_aspect_ratio = x > 0 && y > 0 ? av_d2q(double{y} / x, 1 << 16) : AVRational{1, 1};
  picture.pts = picture.best_effort_timestamp = 0;
}

}  // namespace

const AVPixelFormat tiff_formats[] = {AV_PIX_FMT_RGB24,   AV_PIX_FMT_RGB48,    AV_PIX_FMT_RGBA,
                                      AV_PIX_FMT_RGBA64,  AV_PIX_FMT_GRAY8,    AV_PIX_FMT_GRAY16,
                                      AV_PIX_FMT_YA8,     AV_PIX_FMT_YA16,     AV_PIX_FMT_GRAYF32,
                                      AV_PIX_FMT_GBRPF32, AV_PIX_FMT_GBRAPF32, AV_PIX_FMT_NONE};

const AVPixelFormat tiff_formats_of_tiff[] = {
    AV_PIX_FMT_RGB24,   AV_PIX_FMT_RGB48,   AV_PIX_FMT_RGBA,     AV_PIX_FMT_RGBA64,
    AV_PIX_FMT_GRAY8,   AV_PIX_FMT_GRAY16,  AV_PIX_FMT_YA8,      AV_PIX_FMT_YA16,
    AV_PIX_FMT_GRAYF32, AV_PIX_FMT_GBRPF32, AV_PIX_FMT_GBRAPF32, AV_PIX_FMT_GRAY9,
    AV_PIX_FMT_GRAY10,  AV_PIX_FMT_GRAY12,  AV_PIX_FMT_GRAY14,   AV_PIX_FMT_GBRP9,
    AV_PIX_FMT_GBRP10,  AV_PIX_FMT_GBRP12,  AV_PIX_FMT_GBRP14,   AV_PIX_FMT_GBRAP10,
    AV_PIX_FMT_GBRAP12, AV_PIX_FMT_NONE};

FramePtr read_tiff_picture(TiffReader& reader) {
  if (is_raw_photograph(reader.handle()))
    throw BadData("'" + reader.path() +
                  "' is raw data of a camera sensor (one colour a pixel); develop it first, to "
                  "TIFF of 16 bits");
  FramePtr picture = Importer(reader).read();
  copy_properties(reader, *picture);
  return picture;
}

std::vector<std::string> notes_of_tiff(const std::string& path) {
  try {
    TiffReader reader(path, static_cast<std::uint64_t>(Limits{}.pixels));
    const TiffLayout layout = reader.layout();
    const bool is_float = layout.is_float() || layout.bits > 16;
    const bool has_alpha =
        layout.alpha >= 0 && kind_for(layout.colours, true, is_float ? 32 : layout.bits).alpha;
    const int unread = layout.extra - (has_alpha ? 1 : 0);
    if (unread == 0) return {};
    return {"'" + path + "' has " + std::to_string(unread) +
            (unread == 1 ? " extra sample" : " extra samples") +
            " per pixel that are not filtered; only a TIFF output keeps them"};
  } catch (const Error&) {
    return {};
  }
}

}  // namespace lull::io
