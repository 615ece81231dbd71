// Rewrites an OpenEXR file with new samples in some channels. Parts without new samples keep their
// compressed data. Sample types do not change.

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
#include <memory>
#include <set>
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

/// Returns whether a file with this compression can lose precision if OpenEXR decompresses and
/// compresses it again. PXR24 does not: it rounds floats to 24 bits, and a second rounding changes
/// nothing.
bool may_lose_again(Imf::Compression compression) {
  return compression == Imf::B44_COMPRESSION || compression == Imf::B44A_COMPRESSION ||
         compression == Imf::DWAA_COMPRESSION || compression == Imf::DWAB_COMPRESSION;
}

std::string type_of(const Imf::Header& header) {
  return header.hasType()              ? header.type()
         : header.hasTileDescription() ? Imf::TILEDIMAGE
                                       : Imf::SCANLINEIMAGE;
}

/// Returns a copy of the header without the number of chunks, which OpenEXR computes. The function
/// does not call Header::erase(), which leaks memory in OpenEXR 3.1.
Imf::Header without_chunk_count(const Imf::Header& from) {
  Imf::Header header;
  for (auto one = from.begin(); one != from.end(); ++one)
    if (one.name() != std::string("chunkCount")) header.insert(one.name(), one.attribute());
  return header;
}

/// Returns the header of a part with new samples. The new part contains only the full resolution,
/// because the smaller levels of the original part still contain the noise.
Imf::Header header_for_new_samples(const Imf::Header& from) {
  Imf::Header header = without_chunk_count(from);
  if (header.hasTileDescription()) {
    Imf::TileDescription tiles = header.tileDescription();
    tiles.mode = Imf::ONE_LEVEL;
    header.setTileDescription(tiles);
  }
  if (header.lineOrder() == Imf::RANDOM_Y && !header.hasTileDescription())
    header.lineOrder() = Imf::INCREASING_Y;
  return header;
}

/// Samples of all channels of a part, in their original sample types.
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

  void read(Imf::MultiPartInputFile& file, int part) {
    Imf::InputPart from(file, part);
    from.setFrameBuffer(buffer_);
    from.readPixels(header_.dataWindow().min.y, header_.dataWindow().max.y);
  }

  void write(Imf::MultiPartOutputFile& file, int part) const {
    if (header_.hasTileDescription()) {
      Imf::TiledOutputPart to(file, part);
      to.setFrameBuffer(buffer_);
      to.writeTiles(0, to.numXTiles() - 1, 0, to.numYTiles() - 1);
    } else {
      Imf::OutputPart to(file, part);
      to.setFrameBuffer(buffer_);
      to.writePixels(header_.dataWindow().max.y - header_.dataWindow().min.y + 1);
    }
  }

  /// Returns whether all channels outside `changed` are bit-identical in `other`.
  bool equals_except(const PartPixels& other, const std::set<std::string>& changed) const {
    return std::ranges::all_of(channel_data_, [&](const auto& channel) {
      return changed.contains(channel.first) ||
             channel.second == other.channel_data_.at(channel.first);
    });
  }

  /// Writes a channel without subsampling. The function clamps half floats to 65504.
  void put(const std::string& name, PlaneView<const float> from, const LayerWindow& window) {
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

using NewSamples = std::vector<const ExrFile::NewSamples*>;

/// Groups the new samples by the index of the part.
std::map<int, NewSamples> by_part(const std::vector<ExrFile::NewSamples>& samples) {
  std::map<int, NewSamples> parts;
  for (const ExrFile::NewSamples& one : samples) parts[one.layer->part].push_back(&one);
  return parts;
}

std::set<std::string> channels_of(const NewSamples& samples) {
  std::set<std::string> names;
  for (const ExrFile::NewSamples* one : samples)
    names.insert(one->channels.begin(), one->channels.end());
  return names;
}

void put_all(PartPixels& pixels, const NewSamples& samples) {
  for (const ExrFile::NewSamples* one : samples)
    for (std::size_t i = 0; i < one->channels.size(); ++i)
      pixels.put(one->channels[i], one->from[i], one->layer->window);
}

/// Returns whether the compression in `header` preserves all channels outside `changed`.
bool survives_compression(const Imf::Header& header, const PartPixels& pixels,
                          const std::set<std::string>& changed, int threads) {
  GrowingBytes bytes;
  {
    Imf::MultiPartOutputFile out(bytes, &header, 1, /*overrideSharedAttributes=*/false, threads);
    pixels.write(out, 0);
  }
  ExrBytes stream(
      {reinterpret_cast<const std::uint8_t*>(bytes.bytes().data()), bytes.bytes().size()});
  Imf::MultiPartInputFile in(stream, threads);
  PartPixels again(header);
  again.read(in, 0);
  return pixels.equals_except(again, changed);
}

/// A part with new samples.
struct NewPart {
  Imf::Header header;
  std::unique_ptr<PartPixels> pixels;
};

NewPart new_part(const ExrFile::Parts& parts, int index, const NewSamples& samples) {
  NewPart part{header_for_new_samples(parts.file.header(index)), nullptr};
  part.pixels = std::make_unique<PartPixels>(parts.file.header(index));
  part.pixels->read(parts.file, index);
  put_all(*part.pixels, samples);
  const std::set<std::string> changed = channels_of(samples);
  if (may_lose_again(part.header.compression()) &&
      !survives_compression(part.header, *part.pixels, changed, parts.threads))
    part.header.compression() = Imf::ZIP_COMPRESSION;
  return part;
}

}  // namespace

PacketPtr rewrite(const ExrFile::Parts& parts, const std::vector<ExrFile::NewSamples>& samples) {
  Imf::MultiPartInputFile& in = parts.file;
  std::map<int, NewPart> changed;
  for (const auto& [index, of_part] : by_part(samples))
    changed.emplace(index, new_part(parts, index, of_part));
  std::vector<Imf::Header> headers;
  for (int i = 0; i < in.parts(); ++i)
    headers.push_back(changed.contains(i) ? changed.at(i).header : in.header(i));
  GrowingBytes bytes;
  {
    Imf::MultiPartOutputFile out(bytes, headers.data(), static_cast<int>(headers.size()),
                                 /*overrideSharedAttributes=*/false, parts.threads);
    for (int i = 0; i < in.parts(); ++i)
      if (const auto part = changed.find(i); part != changed.end())
        part->second.pixels->write(out, i);
      else
        copy_part(in, out, i);
  }
  const auto& file = bytes.bytes();
  return packet_of({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()});
}

}  // namespace lull::io
