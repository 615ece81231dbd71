#include "io/dicom/jpeg2000.h"

#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "core/error.h"
#include "io/dicom/jpeg2000_header.h"
#include "io/ffmpeg/ffmpeg_log.h"

namespace lull::io {
namespace {

/// Maximum number of tiles. FFmpeg allocates some kilobytes for each tile.
constexpr std::uint64_t max_tiles = 16384;

void store_sample(std::byte* to, std::int32_t value, int bytes) {
  const auto bits = static_cast<std::uint32_t>(value);
  const auto byte = static_cast<std::uint8_t>(bits);
  const auto word = static_cast<std::uint16_t>(bits);
  const void* const from = bytes == 1   ? static_cast<const void*>(&byte)
                           : bytes == 2 ? static_cast<const void*>(&word)
                                        : static_cast<const void*>(&bits);
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace

Jpeg2000Decoder::Jpeg2000Decoder(const DicomSampleFormat& format, std::string path)
    : format_(format), path_(std::move(path)) {
  capture_ffmpeg_log();
  // The name "jpeg2000" selects FFmpeg's own decoder. The wrapper of OpenJPEG exists only in some
  // builds of FFmpeg.
  const AVCodec* const codec = avcodec_find_decoder_by_name("jpeg2000");
  if (!codec)
    throw BadData("'" + path_ +
                  "' has samples that cannot be decoded (FFmpeg has no decoder for "
                  "JPEG 2000); decompress it first");
  decoder_.reset(non_null(avcodec_alloc_context3(codec)));
  decoder_->thread_count = 1;
  check<BadData>(avcodec_open2(decoder_.get(), codec, nullptr),
                 "cannot open FFmpeg's decoder for JPEG 2000");
}

void Jpeg2000Decoder::fail(const std::string& what) const {
  throw BadData("'" + path_ + "' has samples that cannot be decoded (JPEG 2000: " + what +
                "); copy it again, or decompress it first");
}

FramePtr Jpeg2000Decoder::decode_picture(std::span<const std::uint8_t> codestream) {
  const PacketPtr packet = packet_of(codestream);
  FramePtr picture = make_frame();
  avcodec_flush_buffers(decoder_.get());
  if (avcodec_send_packet(decoder_.get(), packet.get()) < 0 ||
      avcodec_receive_frame(decoder_.get(), picture.get()) < 0)
    fail("a damaged codestream");
  return picture;
}

std::vector<std::byte> Jpeg2000Decoder::decode(std::span<const std::uint8_t> codestream) {
  const std::optional<Jpeg2000Header> header = read_jpeg2000_header(codestream);
  if (!header) fail("no valid codestream");
  if (header->is_high_throughput) fail("HTJ2K");
  if (header->components != 1 || static_cast<int>(header->columns) != format_.columns ||
      static_cast<int>(header->rows) != format_.rows || header->bits > format_.bits_allocated)
    fail("a codestream that contradicts the header");
  if (header->bits > 16) fail("more than 16 bits");
  if (header->tiles > max_tiles) fail("more than " + std::to_string(max_tiles) + " tiles");
  if (!has_all_tiles(codestream, *header)) fail("a truncated codestream");
  const FramePtr picture = decode_picture(codestream);
  const AVPixFmtDescriptor* const layout =
      av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture->format));
  // FFmpeg stores each sample in the upper bits of a word, and adds half of the range to signed
  // samples.
  const int unused = layout ? layout->comp[0].depth - header->bits : -1;
  const bool is_grey = layout && layout->nb_components == 1 && unused >= 0 &&
                       !(layout->flags & AV_PIX_FMT_FLAG_FLOAT) && layout->comp[0].depth <= 16 &&
                       picture->width == format_.columns && picture->height == format_.rows;
  if (!is_grey) fail("an unknown layout of samples");
  const bool is_wide = layout->comp[0].depth > 8;
  const std::int32_t half = 1 << (header->bits - 1), range = 2 * half;
  const int bytes = format_.bits_allocated / 8;
  std::vector<std::byte> samples(format_.frame_bytes());
  std::byte* to = samples.data();
  for (int y = 0; y < format_.rows; ++y) {
    const std::uint8_t* const row = picture->data[0] + y * picture->linesize[0];
    for (int x = 0; x < format_.columns; ++x, to += bytes) {
      std::uint16_t stored = row[is_wide ? 2 * x : x];
      if (is_wide) std::memcpy(&stored, row + 2 * x, sizeof stored);
      if (stored & ((1 << unused) - 1)) fail("an unknown layout of samples");
      std::int32_t value = stored >> unused;
      if (header->is_signed) value -= half;
      // The DICOM attributes decide whether samples are signed, even if the codestream disagrees.
      if (format_.is_signed && value >= half) value -= range;
      if (!format_.is_signed && value < 0) value += range;
      store_sample(to, value, bytes);
    }
  }
  return samples;
}

}  // namespace lull::io
