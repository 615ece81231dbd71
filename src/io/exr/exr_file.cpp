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
#include "io/exr/layer_names.h"

namespace lull::io {
namespace {

std::string list_of_labels(const std::vector<ExrLayer>& layers) {
  std::string all;
  for (const ExrLayer& layer : layers) all += (all.empty() ? "" : ", ") + layer.label;
  return all;
}

/// Raises the number of OpenEXR's threads, which all files of the process share.
int library_threads(int threads) {
  static std::mutex mutex;
  // Only one thread at a time can read or write the file, so more than 16 threads would only wait.
  constexpr unsigned limit = 16;
  const unsigned request =
      threads > 0 ? static_cast<unsigned>(threads) : std::thread::hardware_concurrency();
  const int count = static_cast<int>(std::clamp(request, 1U, limit));
  if (count == 1) return 0;
  const std::lock_guard lock(mutex);
  if (Imf::globalThreadCount() < count) Imf::setGlobalThreadCount(count);
  return count;
}

void insert(Imf::FrameBuffer& buffer, const std::string& channel, const LayerWindow& shown,
            const PlaneView<float>& to) {
  for (int y = 0; y < to.height; ++y) std::fill_n(to.row(y), to.width, 0.0f);
  // OpenEXR needs the address of sample (0, 0) of the file, even if the plane does not contain this
  // sample.
  float* origin = to.data - static_cast<std::ptrdiff_t>(shown.y0) * to.stride - shown.x0;
  buffer.insert(channel, Imf::Slice(Imf::FLOAT, reinterpret_cast<char*>(origin), sizeof(float),
                                    sizeof(float) * static_cast<std::size_t>(to.stride)));
}

/// Returns an error message if `file_bytes` is too small for the samples of a part, and otherwise
/// an empty string.
std::string find_impossible_size(const Imf::Header& header, std::size_t file_bytes) {
  const Imath::Box2i& data = header.dataWindow();
  double bytes = 0;
  for (auto c = header.channels().begin(); c != header.channels().end(); ++c)
    bytes +=
        (c.channel().type == Imf::HALF ? 2.0 : 4.0) / c.channel().xSampling / c.channel().ySampling;
  bytes *= (1.0 + data.max.x - data.min.x) * (1.0 + data.max.y - data.min.y);
  const double limit = static_cast<double>(file_bytes) * max_exr_compression(header.compression());
  return bytes > limit ? "it has more samples than its bytes can hold" : "";
}

}  // namespace

ExrFile::Parts::Parts(std::span<const std::uint8_t> bytes, int wanted_threads)
    : threads(library_threads(wanted_threads)),
      stream(bytes),
      file(stream, threads, /*reconstructChunkOffsetTable=*/false) {}

ExrFile::ExrFile(std::span<const std::uint8_t> bytes, std::string path, int threads,
                 const std::string& picture)
    : bytes_(bytes), path_(std::move(path)) {
  try {
    parts_ = std::make_unique<Parts>(bytes, threads);
    for (int i = 0; i < parts_->file.parts(); ++i)
      if (!parts_->file.partComplete(i)) throw std::runtime_error("pixels are missing");
  } catch (const std::exception& e) {
    throw BadData("'" + path_ + "' is damaged or cut short (" + e.what() + ")");
  }
  layers_ = list_layers(parts_->file);
  choose_picture(picture);
}

ExrFile::~ExrFile() = default;

void ExrFile::choose_picture(const std::string& name) {
  const ExrLayer* chosen = default_picture(layers_);
  if (!name.empty()) {
    chosen = find_layer_named(layers_, name);
    if (!chosen) chosen = picture_of_view(layers_, name);
    if (!chosen)
      throw BadData("'" + path_ + "' has no layer " + name + " (it has " + list_of_labels(layers_) +
                    "); give another name, or leave the file out");
  }
  if (!chosen) return;
  picture_ = chosen;
  layers_[static_cast<std::size_t>(chosen - layers_.data())].is_picture = true;
}

std::string ExrFile::text(const ExrLayer& layer) const {
  std::string suffixes;
  for (const std::string& suffix : layer.channels)
    suffixes += (suffixes.empty() ? "" : " ") + suffix;
  return (layer.name.empty() ? "''" : layer.name) + " (" + suffixes + ")";
}

std::string ExrFile::text() const {
  std::string all;
  for (const ExrLayer& layer : layers_) all += (all.empty() ? "" : ", ") + text(layer);
  return all;
}

const ExrLayer& ExrFile::picture() const {
  if (picture_) return *picture_;
  throw BadData("'" + path_ +
                "' has no picture (no layer with R, G and B, none with one channel; it has " +
                text() + "); rename its channels");
}

std::vector<std::string> ExrFile::picture_channels() const {
  std::vector<std::string> names;
  for (const std::string& suffix : picture().picture_channels())
    names.push_back(*picture().channel(suffix));
  return names;
}

bool ExrFile::has_half_picture() const {
  const Imf::ChannelList& all = parts_->file.header(picture().part).channels();
  return std::ranges::all_of(picture_channels(),
                             [&](const std::string& name) { return all[name].type == Imf::HALF; });
}

double ExrFile::pixel_aspect(const ExrLayer& layer) const {
  return static_cast<double>(parts_->file.header(layer.part).pixelAspectRatio());
}

void ExrFile::check_chunks() const {
  std::string fault;
  for (int i = 0; i < parts_->file.parts() && fault.empty(); ++i)
    if (const Imf::Header& header = parts_->file.header(i);
        !header.hasType() || !Imf::isDeepData(header.type()))
      fault = find_impossible_size(header, bytes_.size());
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
                    "; convert it to RGB first");
    if (request.layer->has_chroma() && name == *request.layer->channel("Y"))
      throw BadData("'" + path_ + "' has luminance and chroma (" + text(*request.layer) +
                    ") instead of colours; convert it to RGB first");
  }
}

void ExrFile::read(const std::vector<ReadRequest>& requests) const {
  std::map<int, Imf::FrameBuffer> buffers;  // by index of the part
  for (const ReadRequest& request : requests) {
    check(request);
    for (std::size_t i = 0; i < request.channels.size(); ++i)
      insert(buffers[request.layer->part], request.channels[i], request.layer->window,
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

PacketPtr ExrFile::with_samples(const std::vector<NewSamples>& samples) const {
  try {
    return rewrite(*parts_, samples);
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
