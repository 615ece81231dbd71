#include "tools/support/exr.h"

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfInputPart.h>
#include <OpenEXR/ImfMultiPartInputFile.h>
#include <OpenEXR/ImfMultiPartOutputFile.h>
#include <OpenEXR/ImfOutputPart.h>
#include <OpenEXR/ImfPartType.h>
#include <OpenEXR/ImfStandardAttributes.h>
#include <OpenEXR/ImfStringAttribute.h>
#include <OpenEXR/ImfTileDescription.h>
#include <OpenEXR/ImfTiledOutputPart.h>
#include <half.h>

#include <cstdint>
#include <cstring>

namespace lull::tools {
namespace {

Imf::Header header_of(const ExrPart& part) {
  const Imath::Box2i data({part.x, part.y}, {part.x + part.width - 1, part.y + part.height - 1});
  Imath::Box2i shown = data;
  if (part.shown_width > 0) shown = {{0, 0}, {part.shown_width - 1, part.shown_height - 1}};
  Imf::Header header(shown, data);
  if (!part.name.empty()) header.setName(part.name);
  header.setType(part.tiled ? Imf::TILEDIMAGE : Imf::SCANLINEIMAGE);
  if (part.tiled) header.setTileDescription({16, 16, Imf::ONE_LEVEL});
  if (!part.view.empty()) header.setView(part.view);
  if (!part.views.empty()) Imf::addMultiView(header, part.views);
  for (const auto& [name, text] : part.attributes) header.insert(name, Imf::StringAttribute(text));
  header.compression() = part.compression;
  for (const auto& [name, channel] : part.channels)
    header.channels().insert(name, Imf::Channel(channel.type));
  return header;
}

/// The bytes of a part's channels, with a frame buffer for them.
class Buffers {
 public:
  explicit Buffers(const Imf::Header& header) : data_(header.dataWindow()) {
    width_ = static_cast<std::size_t>(data_.max.x - data_.min.x + 1);
    height_ = static_cast<std::size_t>(data_.max.y - data_.min.y + 1);
    for (auto c = header.channels().begin(); c != header.channels().end(); ++c) {
      const Imf::PixelType type = c.channel().type;
      const std::size_t size = type == Imf::HALF ? 2 : 4;
      std::vector<char>& bytes = bytes_[c.name()];
      bytes.resize(width_ * height_ * size);
      buffer_.insert(c.name(),
                     Imf::Slice::Make(type, bytes.data(), data_, size, size * width_, 1, 1));
    }
  }
  const Imf::FrameBuffer& buffer() const { return buffer_; }
  int height() const { return static_cast<int>(height_); }

  void put(const std::string& name, const ExrChannel& channel) {
    char* to = bytes_.at(name).data();
    for (const float v : channel.samples) {
      const Imath::half h(v);
      const auto u = static_cast<std::uint32_t>(v);
      const std::size_t size = channel.type == Imf::HALF ? 2 : 4;
      std::memcpy(to,
                  channel.type == Imf::HALF   ? static_cast<const void*>(&h)
                  : channel.type == Imf::UINT ? static_cast<const void*>(&u)
                                              : static_cast<const void*>(&v),
                  size);
      to += size;
    }
  }
  std::vector<float> get(const std::string& name, Imf::PixelType type) const {
    const char* from = bytes_.at(name).data();
    std::vector<float> samples(width_ * height_);
    for (float& v : samples) {
      Imath::half h;
      std::uint32_t u = 0;
      if (type == Imf::HALF)
        std::memcpy(&h, from, 2), v = h, from += 2;
      else if (type == Imf::UINT)
        std::memcpy(&u, from, 4), v = static_cast<float>(u), from += 4;
      else
        std::memcpy(&v, from, 4), from += 4;
    }
    return samples;
  }

 private:
  Imath::Box2i data_;
  std::size_t width_ = 0, height_ = 0;
  std::map<std::string, std::vector<char>> bytes_;
  Imf::FrameBuffer buffer_;
};

}  // namespace

void write_exr_parts(const std::string& path, const std::vector<ExrPart>& parts) {
  std::vector<Imf::Header> headers;
  for (const ExrPart& part : parts) headers.push_back(header_of(part));
  Imf::MultiPartOutputFile file(path.c_str(), headers.data(), static_cast<int>(headers.size()),
                                false, 0);
  for (int i = 0; i < std::ssize(parts); ++i) {
    const ExrPart& part = parts[static_cast<std::size_t>(i)];
    Buffers buffers(headers[static_cast<std::size_t>(i)]);
    for (const auto& [name, channel] : part.channels) buffers.put(name, channel);
    if (part.tiled) {
      Imf::TiledOutputPart to(file, i);
      to.setFrameBuffer(buffers.buffer());
      to.writeTiles(0, to.numXTiles() - 1, 0, to.numYTiles() - 1);
    } else {
      Imf::OutputPart to(file, i);
      to.setFrameBuffer(buffers.buffer());
      to.writePixels(buffers.height());
    }
  }
}

std::vector<ExrPart> read_exr_parts(const std::string& path) {
  Imf::MultiPartInputFile file(path.c_str(), 0);
  std::vector<ExrPart> parts;
  for (int i = 0; i < file.parts(); ++i) {
    Imf::InputPart from(file, i);
    const Imf::Header& header = file.header(i);
    const Imath::Box2i &data = header.dataWindow(), &shown = header.displayWindow();
    ExrPart part{.name = header.hasName() ? header.name() : "",
                 .view = header.hasView() ? header.view() : "",
                 .compression = header.compression(),
                 .tiled = header.hasTileDescription(),
                 .x = data.min.x,
                 .y = data.min.y,
                 .width = data.max.x - data.min.x + 1,
                 .height = data.max.y - data.min.y + 1,
                 .shown_width = shown.max.x - shown.min.x + 1,
                 .shown_height = shown.max.y - shown.min.y + 1};
    if (Imf::hasMultiView(header)) part.views = Imf::multiView(header);
    for (auto one = header.begin(); one != header.end(); ++one)
      if (const auto* text = dynamic_cast<const Imf::StringAttribute*>(&one.attribute());
          text && std::string_view(one.name()) != "name" &&
          std::string_view(one.name()) != "type" && std::string_view(one.name()) != "view")
        part.attributes[one.name()] = text->value();
    Buffers buffers(header);
    from.setFrameBuffer(buffers.buffer());
    from.readPixels(data.min.y, data.max.y);
    for (auto c = header.channels().begin(); c != header.channels().end(); ++c)
      part.channels[c.name()] = {c.channel().type, buffers.get(c.name(), c.channel().type)};
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace lull::tools
