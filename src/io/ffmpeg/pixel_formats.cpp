#include "io/ffmpeg/pixel_formats.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

namespace lull::io {
namespace {

constexpr AVPixelFormat one_bit[] = {AV_PIX_FMT_MONOBLACK, AV_PIX_FMT_MONOWHITE};

bool is_one_bit(AVPixelFormat format) {
  return std::ranges::find(one_bit, format) != std::end(one_bit);
}

// The memory layout of one channel of a picture, according to FFmpeg's pixel format descriptor.
// `Byte` is `const std::uint8_t` if the samples are read-only.
template <class Byte>
struct Channel {
  Byte* data;
  std::ptrdiff_t stride;  // bytes from row to row
  int step;               // bytes from sample to sample
  int shift, depth;       // bits
  bool big_endian;

  int word_bytes() const { return shift + depth <= 8 ? 1 : shift + depth <= 16 ? 2 : 4; }
  bool native() const { return big_endian == (std::endian::native == std::endian::big); }
};

template <class Byte>
Channel<Byte> channel_of(Byte* const* data, const int* strides, const AVPixFmtDescriptor& d,
                         int component) {
  const AVComponentDescriptor& c = d.comp[component];
  return {data[c.plane] + c.offset,           strides[c.plane], c.step, c.shift, c.depth,
          (d.flags & AV_PIX_FMT_FLAG_BE) != 0};
}

constexpr std::uint8_t swapped(std::uint8_t v) { return v; }
constexpr std::uint16_t swapped(std::uint16_t v) { return __builtin_bswap16(v); }
constexpr std::uint32_t swapped(std::uint32_t v) { return __builtin_bswap32(v); }

template <class Word>
Word load(const std::uint8_t* p, bool native) {
  Word word;
  std::memcpy(&word, p, sizeof word);
  return native ? word : swapped(word);
}

template <class Word>
void store(std::uint8_t* p, Word word, bool native) {
  if (!native) word = swapped(word);
  std::memcpy(p, &word, sizeof word);
}

template <class Word, class Sample>
void unpack_rows(const Channel<const std::uint8_t>& from, PlaneView<Sample> to) {
  const auto limit = static_cast<Word>((std::uint64_t{1} << from.depth) - 1);
  const bool native = from.native();
  const bool plain = native && from.step == sizeof(Sample) && from.shift == 0 &&
                     sizeof(Word) == sizeof(Sample) && from.depth == 8 * sizeof(Sample);
  const bool masked = from.shift + from.depth < 8 * static_cast<int>(sizeof(Word)) &&
                      from.step > static_cast<int>(sizeof(Sample));
  for (int y = 0; y < to.height; ++y) {
    const std::uint8_t* in = from.data + y * from.stride;
    Sample* out = to.row(y);
    if (plain) {
      std::memcpy(out, in, to.width * sizeof(Sample));
    } else if (masked || sizeof(Word) > sizeof(Sample)) {  // higher bits belong to other channels
      for (int x = 0; x < to.width; ++x)
        out[x] = static_cast<Sample>(
            (load<Word>(in + std::ptrdiff_t{x} * from.step, native) >> from.shift) & limit);
    } else {
      for (int x = 0; x < to.width; ++x) {
        const auto v =
            static_cast<Word>(load<Word>(in + std::ptrdiff_t{x} * from.step, native) >> from.shift);
        out[x] = static_cast<Sample>(std::min(v, limit));
      }
    }
  }
}

// Writes a plane to a channel of a picture. In a packed format, several channels share a word, so
// the function combines the bits of the channel with the word by OR. `clear_shared()` must have set
// the words to zero.
template <class Word, class Sample>
void pack_rows(PlaneView<const Sample> from, const Channel<std::uint8_t>& to) {
  const bool native = to.native();
  const bool plain = native && to.step == sizeof(Sample) && to.shift == 0 &&
                     sizeof(Word) == sizeof(Sample);  // the same condition as in clear_shared()
  for (int y = 0; y < from.height; ++y) {
    const Sample* in = from.row(y);
    std::uint8_t* out = to.data + y * to.stride;
    if (plain) {
      std::memcpy(out, in, from.width * sizeof(Sample));
      continue;
    }
    for (int x = 0; x < from.width; ++x) {
      std::uint8_t* p = out + std::ptrdiff_t{x} * to.step;
      const auto bits = static_cast<Word>(static_cast<Word>(in[x]) << to.shift);
      store<Word>(p, static_cast<Word>(load<Word>(p, native) | bits), native);
    }
  }
}

template <class Sample>
void unpack_channel(const Channel<const std::uint8_t>& from, PlaneView<Sample> to) {
  switch (from.word_bytes()) {
    case 1:
      return unpack_rows<std::uint8_t>(from, to);
    case 2:
      return unpack_rows<std::uint16_t>(from, to);
    default:
      return unpack_rows<std::uint32_t>(from, to);
  }
}

template <class Sample>
void pack_channel(PlaneView<const Sample> from, const Channel<std::uint8_t>& to) {
  switch (to.word_bytes()) {
    case 1:
      return pack_rows<std::uint8_t>(from, to);
    case 2:
      return pack_rows<std::uint16_t>(from, to);
    default:
      return pack_rows<std::uint32_t>(from, to);
  }
}

// Sets packed planes to zero, because `pack_rows()` combines samples with the words of these planes
// by OR. The unused bits are then also 0, so that equal frames give equal planes.
void clear_shared(AVFrame& picture, const AVPixFmtDescriptor& d) {
  const auto format = static_cast<AVPixelFormat>(picture.format);
  bool done[4] = {};
  for (int c = 0; c < d.nb_components; ++c) {
    const AVComponentDescriptor& component = d.comp[c];
    const int plane = component.plane;
    const int bytes_each = component.depth > 16 ? 4 : component.depth > 8 ? 2 : 1;
    const bool alone =
        component.step == bytes_each && component.shift == 0 && !(d.flags & AV_PIX_FMT_FLAG_BE);
    if (alone || done[plane]) continue;
    done[plane] = true;
    const bool chroma = !(d.flags & AV_PIX_FMT_FLAG_RGB) && (plane == 1 || plane == 2);
    const int rows = chroma ? AV_CEIL_RSHIFT(picture.height, d.log2_chroma_h) : picture.height;
    const int bytes = av_image_get_linesize(format, picture.width, plane);
    for (int y = 0; y < rows; ++y)
      std::memset(picture.data[plane] + std::ptrdiff_t{y} * picture.linesize[plane], 0, bytes);
  }
}

void unpack_one_bit(const AVFrame& picture, PlaneView<std::uint8_t> to) {
  const int invert = picture.format == AV_PIX_FMT_MONOWHITE ? 1 : 0;
  for (int y = 0; y < to.height; ++y) {
    const std::uint8_t* in = picture.data[0] + std::ptrdiff_t{y} * picture.linesize[0];
    for (int x = 0; x < to.width; ++x)
      to(x, y) = ((in[x / 8] >> (7 - x % 8) & 1) ^ invert) ? 255 : 0;
  }
}

// A palette entry is a 32-bit word in native byte order: A (most significant byte), R, G, B.
std::uint32_t palette_entry(const AVFrame& picture, int index) {
  return load<std::uint32_t>(picture.data[1] + std::ptrdiff_t{index} * 4, true);
}

void unpack_palette(const AVFrame& picture, const Frame& frame, const Frame* alpha) {
  const PlaneView<std::uint8_t> planes[] = {
      frame.plane<std::uint8_t>(0), frame.plane<std::uint8_t>(1), frame.plane<std::uint8_t>(2)};
  for (int y = 0; y < frame.format.height; ++y) {
    const std::uint8_t* in = picture.data[0] + std::ptrdiff_t{y} * picture.linesize[0];
    for (int x = 0; x < frame.format.width; ++x) {
      const std::uint32_t entry = palette_entry(picture, in[x]);
      for (int i = 0; i < 3; ++i)
        planes[i](x, y) = static_cast<std::uint8_t>(entry >> (16 - 8 * i));
      if (alpha) alpha->plane<std::uint8_t>(0)(x, y) = static_cast<std::uint8_t>(entry >> 24);
    }
  }
}

// Calls `use` for each plane of the frame in the order of the descriptor's components, alpha last.
template <class Sample, class Use>
void each_channel(const AVPixFmtDescriptor& d, const Frame& frame, const Frame* alpha, Use use) {
  const int colours = frame.format.planes();
  for (int c = 0; c < colours; ++c) use(c, frame.plane<Sample>(c));
  if (alpha && d.nb_components > colours) use(colours, alpha->plane<Sample>(0));
}

template <class Sample>
void unpack_all(const AVFrame& picture, const AVPixFmtDescriptor& d, const Frame& frame,
                const Frame* alpha) {
  each_channel<Sample>(d, frame, alpha, [&](int c, PlaneView<Sample> to) {
    unpack_channel(channel_of<const std::uint8_t>(picture.data, picture.linesize, d, c), to);
  });
}

template <class Sample>
void pack_all(const Frame& frame, const Frame* alpha, const AVPixFmtDescriptor& d,
              AVFrame& picture) {
  each_channel<Sample>(d, frame, alpha, [&](int c, PlaneView<const Sample> from) {
    pack_channel(from, channel_of<std::uint8_t>(picture.data, picture.linesize, d, c));
  });
}

}  // namespace

std::optional<PixelTraits> traits_of(AVPixelFormat format) {
  const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(format);
  if (!d) return std::nullopt;
  PixelTraits traits;
  if (is_one_bit(format)) return traits;
  if (d->flags & AV_PIX_FMT_FLAG_PAL) {
    traits.format.layout = Layout::rgb;
    return traits;
  }
  constexpr auto unsupported =
      AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_BITSTREAM;
  if ((d->flags & unsupported) || std::string_view(d->name).starts_with("xyz")) return std::nullopt;
  // The format UYYVYY411 stores a row as U Y Y V Y Y, so the distance between luma samples varies.
  // FFmpeg's descriptor states a wrong, constant distance that leads beyond the row.
  if (format == AV_PIX_FMT_UYYVYY411) return std::nullopt;
  traits.alpha = (d->flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
  const int colours = d->nb_components - (traits.alpha ? 1 : 0);
  if (colours != 1 && colours != 3) return std::nullopt;
  traits.format.bits = d->comp[0].depth;
  for (int c = 0; c < d->nb_components; ++c)
    if (d->comp[c].depth != traits.format.bits) return std::nullopt;
  if (d->flags & AV_PIX_FMT_FLAG_FLOAT) {  // only planar floats in native byte order are supported
    const bool native =
        !(d->flags & AV_PIX_FMT_FLAG_BE) == (std::endian::native == std::endian::little);
    if (traits.format.bits != 32 || d->comp[0].step != 4 || !native) return std::nullopt;
    traits.format.sample = SampleType::f32;
  } else {
    if (traits.format.bits < 8 || traits.format.bits > 16) return std::nullopt;
    traits.format.sample = traits.format.bits == 8 ? SampleType::u8 : SampleType::u16;
  }
  if (colours == 3) {
    const bool rgb = (d->flags & AV_PIX_FMT_FLAG_RGB) != 0;
    traits.format.layout = rgb ? Layout::rgb : Layout::yuv;
    traits.format.chroma_shift_x = d->log2_chroma_w;
    traits.format.chroma_shift_y = d->log2_chroma_h;
  }
  return traits;
}

std::optional<PixelTraits> traits_of(const AVFrame& picture) {
  std::optional<PixelTraits> traits = traits_of(static_cast<AVPixelFormat>(picture.format));
  if (traits && picture.format == AV_PIX_FMT_PAL8)
    for (int i = 0; i < 256; ++i) traits->alpha |= palette_entry(picture, i) >> 24 != 255;
  return traits;
}

AVPixelFormat packable(AVPixelFormat format, const PixelTraits& traits) {
  const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(format);
  if (d->flags & AV_PIX_FMT_FLAG_PAL) return traits.alpha ? AV_PIX_FMT_RGBA : AV_PIX_FMT_RGB24;
  if (format == AV_PIX_FMT_MONOBLACK || format == AV_PIX_FMT_MONOWHITE) return AV_PIX_FMT_GRAY8;
  return format;
}

const char* name_of(AVPixelFormat format) {
  const char* name = av_get_pix_fmt_name(format);
  return name ? name : "unknown";
}

bool is_full_range_yuv(AVPixelFormat format) {
  return std::string_view(name_of(format)).starts_with("yuvj");
}

AVPixelFormat find_equal(const AVPixelFormat* list, AVPixelFormat format, const PixelTraits& traits,
                         bool full_range) {
  AVPixelFormat equal = AV_PIX_FMT_NONE;
  for (; list && *list != AV_PIX_FMT_NONE; ++list) {
    const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(*list);
    if (!d || (d->flags & AV_PIX_FMT_FLAG_PAL) || is_one_bit(*list)) continue;
    if (is_full_range_yuv(*list) && !full_range) continue;
    if (traits_of(*list) != traits) continue;
    if (*list == format) return format;
    if (equal == AV_PIX_FMT_NONE) equal = *list;
  }
  return equal;
}

void unpack(const AVFrame& picture, const Frame& frame, const Frame* alpha) {
  const auto format = static_cast<AVPixelFormat>(picture.format);
  const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(format);
  if (is_one_bit(format)) return unpack_one_bit(picture, frame.plane<std::uint8_t>(0));
  if (d.flags & AV_PIX_FMT_FLAG_PAL) return unpack_palette(picture, frame, alpha);
  if (frame.format.sample == SampleType::u8) {
    unpack_all<std::uint8_t>(picture, d, frame, alpha);
  } else if (frame.format.sample == SampleType::f32) {
    unpack_all<float>(picture, d, frame, alpha);
  } else {
    unpack_all<std::uint16_t>(picture, d, frame, alpha);
  }
}

bool share_planes(const Frame& frame, AVFrame& picture) {
  constexpr std::ptrdiff_t alignment = 64;  // alignment of rows that FFmpeg's SIMD code may require
  const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
  const int bytes = frame.format.bytes_per_sample();
  const bool foreign = bytes > 1 && (std::endian::native == std::endian::big) !=
                                        ((d.flags & AV_PIX_FMT_FLAG_BE) != 0);
  if (foreign || d.nb_components != frame.format.planes()) return false;
  for (int c = 0; c < d.nb_components; ++c) {
    const auto& plane = frame.planes[c];
    const bool plain = d.comp[c].step == bytes && d.comp[c].shift == 0 && d.comp[c].offset == 0;
    const bool aligned = plane.stride > 0 && plane.stride % alignment == 0 &&
                         reinterpret_cast<std::uintptr_t>(plane.data) % alignment == 0;
    if (!plain || !aligned) return false;
  }
  for (int c = 0; c < d.nb_components; ++c) {
    const int at = d.comp[c].plane;  // RGB planes are in the order G, B, R
    picture.data[at] = reinterpret_cast<std::uint8_t*>(frame.planes[c].data);
    picture.linesize[at] = static_cast<int>(frame.planes[c].stride);
  }
  return true;
}

void pack(const Frame& frame, const Frame* alpha, AVFrame& picture) {
  const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
  clear_shared(picture, d);
  if (frame.format.sample == SampleType::u8) {
    pack_all<std::uint8_t>(frame, alpha, d, picture);
  } else if (frame.format.sample == SampleType::f32) {
    pack_all<float>(frame, alpha, d, picture);
  } else {
    pack_all<std::uint16_t>(frame, alpha, d, picture);
  }
}

}  // namespace lull::io
