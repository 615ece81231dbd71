#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>

#include "io/media.h"
#include "io/tiff/tiff_components.h"
#include "io/tiff/tiff_picture.h"
#include "io/tiff/tiff_samples.h"

namespace lull::io {
namespace {

int colours_shown(const TiffLayout& layout) {
  return layout.photometric == PHOTOMETRIC_PALETTE ? 3 : layout.colours;
}

/// Returns a page layout for `picture`, as similar as possible to the layout `from` of the original
/// page.
TiffLayout layout_for(const AVFrame& picture, const std::optional<TiffLayout>& from) {
  const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
  const bool has_alpha = (d.flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
  TiffLayout layout;
  layout.width = picture.width;
  layout.height = picture.height;
  layout.bits = d.comp[0].depth;
  layout.form = d.flags & AV_PIX_FMT_FLAG_FLOAT ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT;
  layout.colours = d.flags & AV_PIX_FMT_FLAG_RGB ? 3 : 1;
  layout.photometric = layout.colours == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
  layout.extra = has_alpha ? 1 : 0;
  layout.alpha = has_alpha ? layout.colours : -1;
  if (!from || colours_shown(*from) != layout.colours) return layout;
  if (from->is_grey()) layout.photometric = from->photometric;
  if (layout.is_float() && (from->is_float() || from->bits > 16)) {
    layout.bits = from->bits;
    layout.form = from->form;
  }
  const bool same_size = from->width == layout.width && from->height == layout.height;
  // The writer takes extra samples from the original page if the picture does not contain them.
  if (same_size && from->bits <= 32 && from->bits == layout.bits &&
      from->colours == layout.colours) {
    layout.extra = from->extra;
    layout.alpha = from->alpha;
  }
  layout.is_separate = from->is_separate && layout.samples() > 1;
  return layout;
}

/// The extra samples of a page, by the index of the sample in a pixel. Each element contains the
/// bits of one sample.
using ExtraSamples = std::map<int, std::vector<std::uint32_t>>;

ExtraSamples read_extra(TiffReader& original, const TiffLayout& layout, int except) {
  ExtraSamples extra;
  for (int i = layout.colours; i < layout.samples(); ++i)
    if (i != except) extra[i].resize(static_cast<std::size_t>(layout.width) * layout.height);
  if (extra.empty()) return extra;
  original.read(layout, [&](const TiffChunk<const std::uint8_t>& chunk) {
    for (auto& [sample, bits] : extra) {
      const int offset = sample - chunk.first_sample;
      if (offset < 0 || offset >= chunk.samples) continue;
      for (int y = 0; y < chunk.height; ++y)
        load_bits(chunk.row(y), {layout.bits, chunk.samples, offset},
                  std::span(bits).subspan(
                      static_cast<std::size_t>(chunk.y + y) * layout.width + chunk.x, chunk.width));
    }
  });
  return extra;
}

/// Converts a float to the sample format of the file. Returns the bits of the result.
std::uint32_t bits_of(float value, const TiffLayout& layout) {
  if (layout.form == SAMPLEFORMAT_UINT) {
    const double maximum = layout.bits == 24 ? 0xffffff : 0xffffffff;
    return value > 0 ? static_cast<std::uint32_t>(std::llround(std::min(value, 1.0f) * maximum))
                     : 0;
  }
  if (layout.bits == 32) return std::bit_cast<std::uint32_t>(value);
  constexpr float max_half = 65504;  // finite values stay finite
  return to_half(std::isfinite(value) ? std::clamp(value, -max_half, max_half) : value);
}

/// Writes the samples of a picture into the strips or tiles of a page.
class Exporter {
 public:
  Exporter(const AVFrame& picture, const TiffLayout& layout, ExtraSamples extra)
      : picture_(picture),
        layout_(layout),
        extra_(std::move(extra)),
        d_(*av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format))) {}

  void fill(const TiffChunk<std::uint8_t>& chunk) {
    if (is_packed_like(chunk)) {
      for (int y = 0; y < chunk.height; ++y)
        std::memcpy(chunk.row(y), component(0).at(chunk.x, chunk.y + y),
                    layout_.row_bytes(chunk.width));
      return;
    }
    bits_.resize(chunk.width);
    for (int i = 0; i < chunk.samples; ++i)
      for (int y = 0; y < chunk.height; ++y) {
        const int sample = chunk.first_sample + i;
        const TiffRow format{layout_.bits, chunk.samples, i};
        const auto extra = extra_.find(sample);
        if (extra != extra_.end()) {
          const std::size_t at = static_cast<std::size_t>(chunk.y + y) * layout_.width + chunk.x;
          store_bits(std::span(extra->second).subspan(at, chunk.width), format, chunk.row(y));
        } else if (layout_.bits == 64) {
          fill_doubles(chunk, sample, y, i);
        } else {
          load(sample, chunk.x, chunk.y + y);
          store_bits(bits_, format, chunk.row(y));
        }
      }
  }

 private:
  /// Returns whether the picture has the sample order and format of the strip or tile.
  bool is_packed_like(const TiffChunk<std::uint8_t>& chunk) const {
    const bool is_float = (d_.flags & AV_PIX_FMT_FLAG_FLOAT) != 0;
    return extra_.empty() && layout_.bits == d_.comp[0].depth && layout_.bits % 8 == 0 &&
           layout_.is_float() == is_float && layout_.photometric != PHOTOMETRIC_MINISWHITE &&
           chunk.samples == d_.nb_components &&
           component(0).step() == chunk.samples * layout_.bits / 8;
  }

  PictureComponent component(int sample) const {
    return {picture_, sample < layout_.colours ? sample : layout_.colours};
  }

  void load(int sample, int x, int y) {
    const PictureComponent from = component(sample);
    if (d_.flags & AV_PIX_FMT_FLAG_FLOAT) {
      floats_.resize(bits_.size());
      from.get<float>(x, y, floats_);
      std::ranges::transform(floats_, bits_.begin(), [&](float v) { return bits_of(v, layout_); });
      return;
    }
    const bool is_inverted =
        layout_.photometric == PHOTOMETRIC_MINISWHITE && sample < layout_.colours;
    const std::uint32_t inversion = is_inverted ? (1u << layout_.bits) - 1 : 0;
    if (d_.comp[0].depth == 8) {
      bytes_.resize(bits_.size());
      from.get<std::uint8_t>(x, y, bytes_);
      std::ranges::transform(bytes_, bits_.begin(), [&](auto v) { return v ^ inversion; });
    } else {
      words_.resize(bits_.size());
      from.get<std::uint16_t>(x, y, words_);
      std::ranges::transform(words_, bits_.begin(), [&](auto v) { return v ^ inversion; });
    }
  }

  void fill_doubles(const TiffChunk<std::uint8_t>& chunk, int sample, int y, int offset) {
    floats_.resize(chunk.width);
    component(sample).get<float>(chunk.x, chunk.y + y, floats_);
    for (int x = 0; x < chunk.width; ++x) {
      const double value = floats_[x];
      std::memcpy(chunk.row(y) + 8 * (std::size_t(x) * chunk.samples + offset), &value, 8);
    }
  }

  const AVFrame& picture_;
  const TiffLayout& layout_;
  ExtraSamples extra_;
  const AVPixFmtDescriptor& d_;
  std::vector<std::uint32_t> bits_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint16_t> words_;
  std::vector<float> floats_;
};

void set_bytes(TIFF* to, std::uint32_t tag, const std::vector<std::uint8_t>& bytes) {
  if (!bytes.empty()) TIFFSetField(to, tag, static_cast<std::uint32_t>(bytes.size()), bytes.data());
}

/// Sets the tag with IPTC data. Some versions of libtiff expect the size of the data in units of
/// four bytes, so the function then pads the data with zeros.
void set_iptc(TIFF* to, std::vector<std::uint8_t> iptc) {
  const TIFFField* field = TIFFFieldWithTag(to, TIFFTAG_RICHTIFFIPTC);
  if (iptc.empty() || !field) return;
  const bool has_units = TIFFFieldDataType(field) == TIFF_LONG;
  if (has_units) iptc.resize((iptc.size() + 3) / 4 * 4);
  TIFFSetField(to, TIFFTAG_RICHTIFFIPTC,
               static_cast<std::uint32_t>(has_units ? iptc.size() / 4 : iptc.size()), iptc.data());
}

/// Sets the tags for the metadata, with a default resolution because TIFF 6.0 requires one.
void set_complete_metadata(TIFF* to, TiffMetadata metadata, AVRational aspect) {
  constexpr double default_resolution = 72;
  auto& [x, y] = metadata.dots_per_inch;
  if (y <= 0) y = default_resolution;
  if (x <= 0) x = aspect.num > 0 && aspect.den > 0 ? y / av_q2d(aspect) : y;
  set_metadata(to, metadata);
}

/// Adds the differences between the layouts of the original page and of the output page to
/// `changes`.
void note_changes(const TiffLayout& from, const TiffLayout& to, TiffChanges& changes) {
  const std::string bits = std::to_string(to.bits) + " bits";
  if (from.photometric == PHOTOMETRIC_PALETTE && to.photometric == PHOTOMETRIC_RGB)
    changes.notes.push_back("the palette becomes RGB of " + bits);
  else if (from.bits < to.bits)
    changes.notes.push_back("samples of " + std::to_string(from.bits) + " bits become " + bits);
  if (from.extra > to.extra)
    changes.losses.push_back(std::to_string(from.extra - to.extra) + " extra samples per pixel");
}

}  // namespace

void set_metadata(TIFF* page, const TiffMetadata& metadata) {
  set_bytes(page, TIFFTAG_ICCPROFILE, metadata.icc);
  set_bytes(page, TIFFTAG_XMLPACKET, metadata.xmp);
  set_iptc(page, metadata.iptc);
  set_bytes(page, TIFFTAG_PHOTOSHOP, metadata.photoshop);
  if (metadata.orientation > 0) TIFFSetField(page, TIFFTAG_ORIENTATION, metadata.orientation);
  if (const auto& [x, y] = metadata.dots_per_inch; x > 0 && y > 0) {
    TIFFSetField(page, TIFFTAG_XRESOLUTION, x);
    TIFFSetField(page, TIFFTAG_YRESOLUTION, y);
    TIFFSetField(page, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
  }
  if (metadata.chromaticities.size() != 8) return;
  TIFFSetField(page, TIFFTAG_WHITEPOINT, metadata.chromaticities.data());
  TIFFSetField(page, TIFFTAG_PRIMARYCHROMATICITIES, metadata.chromaticities.data() + 2);
}

bool needs_big_tiff(const AVFrame& picture) {
  return needs_big_tiff(layout_for(picture, std::nullopt), 1);
}

void TiffPictureWriter::open(const TiffOrigin& origin) {
  if (origin.path.empty()) return;
  if (!origin_)
    origin_ = std::make_unique<TiffReader>(origin.path, static_cast<std::uint64_t>(INT32_MAX));
  for (; page_ < origin.page; ++page_)
    if (!origin_->next_picture()) origin_->fail("has fewer pages than before");
}

void TiffPictureWriter::create(const TiffLayout& layout) {
  const std::int64_t pages = origin_ ? TIFFNumberOfDirectories(origin_->handle()) : 1;
  const bool is_big = (origin_ && origin_->big_tiff()) || needs_big_tiff(layout, pages);
  writer_ =
      std::make_unique<TiffWriter>(descriptor_, name_, origin_ && origin_->big_endian(), is_big);
}

TiffChanges TiffPictureWriter::set_tags(const AVFrame& picture, const TiffLayout& layout,
                                        const std::optional<TiffLayout>& from,
                                        const TiffMetadata& metadata) {
  if (!writer_) create(layout);
  if (!from) {
    writer_->set_tags(layout);
    set_complete_metadata(writer_->handle(), metadata, picture.sample_aspect_ratio);
    return {};
  }
  TiffChanges changes = writer_->copy_tags(*origin_, *from, layout);
  filter_photoshop(changes);
  note_changes(*from, layout, changes);
  return changes;
}

/// Removes the thumbnails in the Photoshop blocks of the original page, because they show the
/// picture before denoising.
void TiffPictureWriter::filter_photoshop(TiffChanges& changes) {
  std::uint32_t count = 0;
  const std::uint8_t* blocks = nullptr;
  if (!TIFFGetField(origin_->handle(), TIFFTAG_PHOTOSHOP, &count, &blocks) || count == 0) return;
  const std::vector<std::uint8_t> kept = filter_({blocks, count});
  if (kept.size() == count) return;
  TIFF* const page = writer_->handle();
  TIFFUnsetField(page, TIFFTAG_PHOTOSHOP);
  set_bytes(page, TIFFTAG_PHOTOSHOP, kept);
  changes.notes.push_back(
      "the embedded thumbnail is removed (it shows the picture before denoising)");
}

void TiffPictureWriter::add(const AVFrame& picture, const TiffOrigin& origin,
                            const TiffMetadata& metadata) {
  const bool is_first = !writer_;
  open(origin);
  std::optional<TiffLayout> from;
  if (origin_) from = origin_->layout();
  const TiffLayout layout = layout_for(picture, from);
  TiffChanges changes = set_tags(picture, layout, from, metadata);
  if (is_first) changes_ = std::move(changes);
  ExtraSamples extra;
  if (from && layout.extra > 0) {
    const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
    const bool has_alpha = (d.flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
    if (from->samples() == layout.samples())
      extra = read_extra(*origin_, *from, has_alpha ? layout.alpha : -1);
  }
  Exporter exporter(picture, layout, std::move(extra));
  writer_->write(layout, [&](const TiffChunk<std::uint8_t>& chunk) { exporter.fill(chunk); });
}

void TiffPictureWriter::close() { writer_->close(); }

TiffChanges predict_changes(const AVFrame& picture, const TiffOrigin& origin,
                            PhotoshopFilter filter) {
  const std::string nowhere = "/dev/null";
  struct File {
    int descriptor;
    ~File() { ::close(descriptor); }
  } file{::open(nowhere.c_str(), O_RDWR | O_CLOEXEC)};
  TiffPictureWriter writer(file.descriptor, nowhere, filter);
  writer.open(origin);
  const std::optional<TiffLayout> from = writer.origin_->layout();
  return writer.set_tags(picture, layout_for(picture, from), from, {});
}

}  // namespace lull::io
