#include "io/exr/exr_file.h"

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfInputPart.h>
#include <OpenEXR/ImfMultiPartInputFile.h>
#include <OpenEXR/ImfPartType.h>
#include <OpenEXR/ImfThreading.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "io/exr/exr_chunks.h"
#include "io/exr/exr_parts.h"

namespace lull::io {
namespace {

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string_view last_name(std::string_view layer) { return layer.substr(layer.rfind('.') + 1); }

/// Names of the layers that contain the picture, best first, as OIDN's loader, Blender, Arnold and
/// RenderMan write them. (Blender may store the result of its own denoiser in addition to the noisy
/// image.)
constexpr std::array<std::string_view, 9> picture_names = {
    "", "RGBA", "RGB", "Noisy Image", "Combined", "Beauty", "Color", "Ci", "C"};
constexpr std::array<std::string_view, 3> rgb = {"R", "G", "B"};
constexpr std::array<std::string_view, 3> grey = {"Y", "Z", "V"};

bool has_rgb(const ExrLayer& layer) {
  return std::ranges::all_of(rgb, [&](std::string_view s) { return layer.channel(s); });
}

/// Sets the number of OpenEXR's threads, which belong to the whole process. The number is the
/// maximum of all requests.
int library_threads(int threads) {
  static std::mutex mutex;
  // Additional threads would wait for the thread that reads or writes.
  constexpr unsigned limit = 16;
  const unsigned request =
      threads > 0 ? static_cast<unsigned>(threads) : std::thread::hardware_concurrency();
  const int count = static_cast<int>(std::clamp(request, 1U, limit));
  if (count == 1) return 0;
  const std::lock_guard lock(mutex);
  if (Imf::globalThreadCount() < count) Imf::setGlobalThreadCount(count);
  return count;
}

void insert(Imf::FrameBuffer& buffer, const std::string& channel, const ExrWindow& shown,
            const PlaneView<float>& to) {
  for (int y = 0; y < to.height; ++y) std::fill_n(to.row(y), to.width, 0.0f);
  // OpenEXR addresses samples by the row and column numbers of the file.
  float* origin = to.data - static_cast<std::ptrdiff_t>(shown.y0) * to.stride - shown.x0;
  buffer.insert(channel, Imf::Slice(Imf::FLOAT, reinterpret_cast<char*>(origin), sizeof(float),
                                    sizeof(float) * static_cast<std::size_t>(to.stride)));
}

}  // namespace

const std::string* ExrLayer::channel(std::string_view suffix) const {
  for (std::size_t i = 0; i < channels.size(); ++i)
    if (equal_ignoring_case(suffixes[i], suffix)) return &channels[i];
  return nullptr;
}

ExrFile::Parts::Parts(std::span<const std::uint8_t> bytes, int wanted_threads)
    : threads(library_threads(wanted_threads)),
      stream(bytes),
      file(stream, threads, /*reconstructChunkOffsetTable=*/false) {}

ExrFile::ExrFile(std::span<const std::uint8_t> bytes, std::string path, int threads)
    : bytes_(bytes), path_(std::move(path)) {
  try {
    parts_ = std::make_unique<Parts>(bytes, threads);
    for (int i = 0; i < parts_->file.parts(); ++i)
      if (!parts_->file.partComplete(i)) throw std::runtime_error("pixels are missing");
  } catch (const std::exception& e) {
    throw BadData("'" + path_ + "' is damaged or cut short (" + e.what() + ")");
  }
  find_layers();
}

ExrFile::~ExrFile() = default;

void ExrFile::find_layers() {
  const bool several = parts_->file.parts() > 1;
  for (int i = 0; i < parts_->file.parts(); ++i) {
    const Imf::Header& header = parts_->file.header(i);
    const std::string part = several && header.hasName() ? header.name() : "";
    const std::size_t first = layers_.size();
    for (auto c = header.channels().begin(); c != header.channels().end(); ++c) {
      const std::string channel = c.name();
      const std::size_t dot = channel.rfind('.');
      std::string layer = dot == std::string::npos ? "" : channel.substr(0, dot);
      if (layer.empty())
        layer = part;
      else if (!part.empty() && layer != part && layer.rfind(part + ".", 0) != 0)
        layer = part + "." + layer;
      auto at = std::find_if(layers_.begin() + static_cast<std::ptrdiff_t>(first), layers_.end(),
                             [&](const ExrLayer& l) { return l.name == layer; });
      if (at == layers_.end()) at = layers_.insert(at, ExrLayer{.name = layer, .part = i});
      at->channels.push_back(channel);
      at->suffixes.push_back(dot == std::string::npos ? channel : channel.substr(dot + 1));
    }
  }
}

std::string ExrFile::text(const ExrLayer& layer) const {
  std::string suffixes;
  for (const std::string& suffix : layer.suffixes)
    suffixes += (suffixes.empty() ? "" : " ") + suffix;
  return (layer.name.empty() ? "''" : layer.name) + " (" + suffixes + ")";
}

std::string ExrFile::text() const {
  std::string all;
  for (const ExrLayer& layer : layers_) all += (all.empty() ? "" : ", ") + text(layer);
  return all;
}

const ExrLayer& ExrFile::picture() const {
  for (const std::string_view name : picture_names)
    for (const ExrLayer& layer : layers_)
      if (has_rgb(layer) && equal_ignoring_case(last_name(layer.name), name)) return layer;
  for (const ExrLayer& layer : layers_)
    if (has_rgb(layer)) return layer;
  for (const std::string_view suffix : grey)
    for (const ExrLayer& layer : layers_)
      if (layer.channel(suffix)) return layer;
  for (const ExrLayer& layer : layers_)
    if (layer.channels.size() == 1) return layer;
  throw BadData("'" + path_ +
                "' has no picture (no layer with R, G and B, none with one channel; it has " +
                text() + "); rename its channels");
}

std::vector<std::string> ExrFile::picture_channels() const {
  const ExrLayer& layer = picture();
  if (has_rgb(layer)) {
    std::vector<std::string> channels;
    for (const std::string_view suffix : rgb) channels.push_back(*layer.channel(suffix));
    return channels;
  }
  for (const std::string_view suffix : grey)
    if (const std::string* channel = layer.channel(suffix)) return {*channel};
  return {layer.channels.front()};
}

bool ExrFile::has_half_picture() const {
  const Imf::ChannelList& all = parts_->file.header(picture().part).channels();
  return std::ranges::all_of(picture_channels(),
                             [&](const std::string& name) { return all[name].type == Imf::HALF; });
}

double ExrFile::pixel_aspect(const ExrLayer& layer) const {
  return static_cast<double>(parts_->file.header(layer.part).pixelAspectRatio());
}

// A frame contains the display window and all samples outside of it. Renderers of animations may
// crop the data window differently for each frame, but all frames of a sequence must have one size.
ExrWindow ExrFile::window(const ExrLayer& layer) const {
  const Imf::Header& header = parts_->file.header(layer.part);
  const Imath::Box2i &data = header.dataWindow(), &shown = header.displayWindow();
  return {std::min(data.min.x, shown.min.x), std::min(data.min.y, shown.min.y),
          std::max(data.max.x, shown.max.x), std::max(data.max.y, shown.max.y)};
}

void ExrFile::check_chunks(const ExrLayer& layer) const {
  const Imf::Header& header = parts_->file.header(layer.part);
  const Imath::Box2i& data = header.dataWindow();
  double bytes = 0;
  for (auto c = header.channels().begin(); c != header.channels().end(); ++c)
    bytes +=
        (c.channel().type == Imf::HALF ? 2.0 : 4.0) / c.channel().xSampling / c.channel().ySampling;
  bytes *= (1.0 + data.max.x - data.min.x) * (1.0 + data.max.y - data.min.y);
  const double limit =
      static_cast<double>(bytes_.size()) * max_exr_compression(header.compression());
  std::string fault = bytes > limit ? "it has more samples than its bytes can hold" : "";
  if (fault.empty()) fault = find_damaged_chunk(bytes_, parts_->threads);
  if (!fault.empty()) throw BadData("'" + path_ + "' is damaged or cut short (" + fault + ")");
}

void ExrFile::check(const ReadRequest& request) const {
  const Imf::Header& header = parts_->file.header(request.layer->part);
  if (header.hasType() && Imf::isDeepData(header.type()))
    throw BadData("'" + path_ + "' has deep pixels (many samples each, in " +
                  (request.layer->name.empty() ? "its picture" : request.layer->name) +
                  "); flatten them first");
  for (const std::string& name : request.channels) {
    const Imf::Channel& channel = header.channels()[name];
    if (channel.xSampling != 1 || channel.ySampling != 1)
      throw BadData("'" + path_ + "' has fewer samples than pixels in " + name +
                    " (luminance and chroma); convert it to RGB first");
  }
}

void ExrFile::read(const std::vector<ReadRequest>& requests) const {
  std::map<int, Imf::FrameBuffer> buffers;  // by index of the part
  for (const ReadRequest& request : requests) {
    check(request);
    for (std::size_t i = 0; i < request.channels.size(); ++i)
      insert(buffers[request.layer->part], request.channels[i], window(*request.layer),
             request.to[i]);
  }
  try {
    for (const auto& [number, buffer] : buffers) {
      Imf::InputPart part(parts_->file, number);
      part.setFrameBuffer(buffer);
      const Imath::Box2i& data = part.header().dataWindow();
      part.readPixels(data.min.y, data.max.y);
    }
  } catch (const std::exception& e) {
    throw BadData("'" + path_ + "' is damaged or cut short (" + e.what() + ")");
  }
}

PacketPtr ExrFile::with_picture(std::span<const std::string> channels,
                                std::span<const PlaneView<const float>> samples) const {
  const ExrLayer& layer = picture();
  try {
    return rewrite(*parts_, layer.part, window(layer), channels, samples);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    throw BadData("'" + path_ + "' is damaged in what it has beside its picture (" + e.what() +
                  ")");
  }
}

bool is_exr_file(const std::string& path) {
  std::array<char, 4> head{};
  std::ifstream file(path, std::ios::binary);
  return file.read(head.data(), head.size()) && head == std::array{'\x76', '\x2f', '\x31', '\x01'};
}

bool is_exr_name(std::string_view path) {
  return path.size() > 4 && equal_ignoring_case(path.substr(path.size() - 4), ".exr");
}

}  // namespace lull::io
