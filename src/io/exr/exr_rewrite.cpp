// Writes an OpenEXR file again with a new picture. Parts without channels of the picture are copied
// in compressed form. In the part that contains the picture, all other channels are copied in their
// sample type.

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfCompressionAttribute.h>
#include <OpenEXR/ImfDeepScanLineInputPart.h>
#include <OpenEXR/ImfDeepScanLineOutputPart.h>
#include <OpenEXR/ImfDeepTiledInputPart.h>
#include <OpenEXR/ImfDeepTiledOutputPart.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfInputPart.h>
#include <OpenEXR/ImfMultiPartOutputFile.h>
#include <OpenEXR/ImfOutputPart.h>
#include <OpenEXR/ImfPartType.h>
#include <OpenEXR/ImfTiledInputPart.h>
#include <OpenEXR/ImfTiledOutputPart.h>
#include <half.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "io/exr/exr_parts.h"

namespace lull::io {
namespace {

class GrowingBytes final : public Imf::OStream {
 public:
  GrowingBytes() : Imf::OStream("memory") {}
  void write(const char from[], int count) override {
    const std::size_t end = at_ + static_cast<std::size_t>(count);
    if (end > bytes_.size()) bytes_.resize(end);
    std::memcpy(bytes_.data() + at_, from, static_cast<std::size_t>(count));
    at_ = end;
  }
  std::uint64_t tellp() override { return at_; }
  void seekp(std::uint64_t at) override { at_ = at; }
  const std::vector<char>& bytes() const { return bytes_; }

 private:
  std::vector<char> bytes_;
  std::size_t at_ = 0;
};

bool is_lossy(Imf::Compression compression) {
  return compression == Imf::PXR24_COMPRESSION || compression == Imf::B44_COMPRESSION ||
         compression == Imf::B44A_COMPRESSION || compression == Imf::DWAA_COMPRESSION ||
         compression == Imf::DWAB_COMPRESSION;
}

std::string type_of(const Imf::Header& header) {
  return header.hasType()              ? header.type()
         : header.hasTileDescription() ? Imf::TILEDIMAGE
                                       : Imf::SCANLINEIMAGE;
}

/// Returns a header with all attributes except the number of chunks, which follows from the others.
/// (Header::erase() of OpenEXR 3.1 leaks the memory of the erased attribute.)
Imf::Header without_chunk_count(const Imf::Header& from) {
  Imf::Header header;
  for (auto one = from.begin(); one != from.end(); ++one)
    if (one.name() != std::string("chunkCount")) header.insert(one.name(), one.attribute());
  return header;
}

/// Returns the header that the picture's part has in the output. The part has only one resolution
/// level, because lower levels would still contain the noise.
Imf::Header header_for_picture(const Imf::Header& from) {
  Imf::Header header = without_chunk_count(from);
  if (is_lossy(header.compression())) header.compression() = Imf::ZIP_COMPRESSION;
  if (header.hasTileDescription()) {
    Imf::TileDescription tiles = header.tileDescription();
    tiles.mode = Imf::ONE_LEVEL;
    header.setTileDescription(tiles);
  }
  if (header.lineOrder() == Imf::RANDOM_Y && !header.hasTileDescription())
    header.lineOrder() = Imf::INCREASING_Y;
  return header;
}

/// Buffers for all channels of a part, in their sample types.
class PartPixels {
 public:
  explicit PartPixels(const Imf::Header& header) : header_(header) {
    const Imath::Box2i data = header.dataWindow();
    for (auto c = header.channels().begin(); c != header.channels().end(); ++c) {
      const Imf::Channel& channel = c.channel();
      const std::size_t size = channel.type == Imf::HALF ? 2 : 4;
      const int xs = channel.xSampling, ys = channel.ySampling;
      const std::size_t columns = static_cast<std::size_t>(data.max.x / xs - data.min.x / xs + 1);
      const std::size_t rows = static_cast<std::size_t>(data.max.y / ys - data.min.y / ys + 1);
      std::vector<char>& storage = channel_data_[c.name()];
      storage.resize(columns * rows * size);
      buffer_.insert(c.name(), Imf::Slice::Make(channel.type, storage.data(), data, size,
                                                size * columns, xs, ys));
    }
  }

  const Imf::FrameBuffer& buffer() const { return buffer_; }

  /// Writes a channel that has a sample for each pixel. Values of half floats are clamped to 65504.
  void put(const std::string& name, PlaneView<const float> from, const ExrWindow& window) {
    const Imath::Box2i data = header_.dataWindow();
    char* to = channel_data_.at(name).data();
    const Imf::PixelType type = header_.channels()[name].type;
    for (int y = data.min.y; y <= data.max.y; ++y)
      for (int x = data.min.x; x <= data.max.x; ++x) {
        const float v = from(x - window.x0, y - window.y0);
        if (type == Imf::HALF) {
          const float max_half = HALF_MAX;
          const Imath::half h(std::isfinite(v) ? std::clamp(v, -max_half, max_half) : v);
          std::memcpy(to, &h, 2), to += 2;
        } else if (type == Imf::FLOAT) {
          std::memcpy(to, &v, 4), to += 4;
        } else {
          const double rounded =
              std::isnan(v) ? 0 : std::clamp(std::round(double{v}), 0.0, 4294967295.0);
          const auto u = static_cast<std::uint32_t>(rounded);
          std::memcpy(to, &u, 4), to += 4;
        }
      }
  }

 private:
  const Imf::Header& header_;
  std::map<std::string, std::vector<char>> channel_data_;
  Imf::FrameBuffer buffer_;
};

void copy_part(Imf::MultiPartInputFile& in, Imf::MultiPartOutputFile& out, int part) {
  const std::string type = type_of(in.header(part));
  if (type == Imf::TILEDIMAGE) {
    Imf::TiledInputPart from(in, part);
    Imf::TiledOutputPart(out, part).copyPixels(from);
  } else if (type == Imf::DEEPSCANLINE) {
    Imf::DeepScanLineInputPart from(in, part);
    Imf::DeepScanLineOutputPart(out, part).copyPixels(from);
  } else if (type == Imf::DEEPTILE) {
    Imf::DeepTiledInputPart from(in, part);
    Imf::DeepTiledOutputPart(out, part).copyPixels(from);
  } else {
    Imf::InputPart from(in, part);
    Imf::OutputPart(out, part).copyPixels(from);
  }
}

}  // namespace

PacketPtr rewrite(const ExrFile::Parts& parts, int picture_part, const ExrWindow& window,
                  std::span<const std::string> channels,
                  std::span<const PlaneView<const float>> samples) {
  Imf::MultiPartInputFile& in = parts.file;
  std::vector<Imf::Header> headers;
  for (int i = 0; i < in.parts(); ++i)
    headers.push_back(i == picture_part ? header_for_picture(in.header(i)) : in.header(i));
  GrowingBytes bytes;
  {
    Imf::MultiPartOutputFile out(bytes, headers.data(), static_cast<int>(headers.size()),
                                 /*overrideSharedAttributes=*/false, parts.threads);
    for (int i = 0; i < in.parts(); ++i) {
      if (i != picture_part) {
        copy_part(in, out, i);
        continue;
      }
      const Imf::Header& header = in.header(i);
      const Imath::Box2i data = header.dataWindow();
      PartPixels pixels(header);
      Imf::InputPart from(in, i);
      from.setFrameBuffer(pixels.buffer());
      from.readPixels(data.min.y, data.max.y);
      for (std::size_t c = 0; c < channels.size(); ++c) pixels.put(channels[c], samples[c], window);
      if (header.hasTileDescription()) {
        Imf::TiledOutputPart to(out, i);
        to.setFrameBuffer(pixels.buffer());
        to.writeTiles(0, to.numXTiles() - 1, 0, to.numYTiles() - 1);
      } else {
        Imf::OutputPart to(out, i);
        to.setFrameBuffer(pixels.buffer());
        to.writePixels(data.max.y - data.min.y + 1);
      }
    }
  }
  PacketPtr packet = make_packet();
  check<OutOfMemory>(av_new_packet(packet.get(), static_cast<int>(bytes.bytes().size())),
                     "no memory for a picture");
  std::memcpy(packet->data, bytes.bytes().data(), bytes.bytes().size());
  return packet;
}

}  // namespace lull::io
