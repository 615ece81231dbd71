#include "tools/wrap/layered.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "core/error.h"

namespace lull::tools {
namespace {

/// Describes the file that contains a frame, for messages. Numbers of files in a sequence begin at
/// 0.
std::string file_name_of(const Frame& frame) {
  return "picture " + std::to_string(frame.slice) + " of the input";
}

void check_layer(const Frame& frame, const LayerDenoiser& layer) {
  const std::vector<io::LayerInfo> all = io::layers_of(frame);
  const auto found = std::ranges::find(all, layer.layer.name, &io::LayerInfo::name);
  if (found == all.end())
    throw BadData(file_name_of(frame) + " has no layer " + layer.layer.name + " (it has " +
                  io::layers_text(frame) + "); select the layers that all files have with --layer");
  const io::LayerWindow& window = found->window;
  if (window.width() != layer.format.width || window.height() != layer.format.height)
    throw BadData("the layer " + layer.layer.name + " of " + file_name_of(frame) + " has " +
                  std::to_string(window.width()) + "x" + std::to_string(window.height()) +
                  " pixels (before, it has " + std::to_string(layer.format.width) + "x" +
                  std::to_string(layer.format.height) + "); leave the file out");
}

/// Returns the layer of a frame as a new frame. The new frame has the time and the side data of the
/// given frame.
Frame layer_of(const Frame& frame, const LayerDenoiser& layer) {
  check_layer(frame, layer);
  Frame shown = io::read_layer(frame, layer.layer.name, layer.layer.channels);
  shown.format = layer.format;
  shown.copy_info(frame);
  return shown;
}

/// A denoiser that combines the sessions of several layers. The denoiser returns a frame when all
/// layers of the frame are ready.
class LayeredDenoiser final : public Denoiser {
 public:
  LayeredDenoiser(std::unique_ptr<Denoiser> picture, std::vector<LayerDenoiser> layers)
      : picture_(std::move(picture)), layers_(std::move(layers)), results_(layers_.size()) {}

  int latency() const noexcept override {
    int latency = picture_->latency();
    for (const LayerDenoiser& one : layers_) latency = std::max(latency, one.denoiser->latency());
    return latency;
  }

  std::optional<Frame> push(Frame noisy) override {
    for (std::size_t i = 0; i < layers_.size(); ++i)
      collect(results_[i], layers_[i].denoiser->push(layer_of(noisy, layers_[i])));
    collect(pictures_, picture_->push(std::move(noisy)));
    return next();
  }

  std::optional<Frame> next() override {
    for (std::size_t i = 0; i < layers_.size(); ++i)
      while (collect(results_[i], layers_[i].denoiser->next())) continue;
    while (collect(pictures_, picture_->next())) continue;
    return combined();
  }

  std::optional<Frame> drain() override {
    for (std::size_t i = 0; i < layers_.size(); ++i)
      while (collect(results_[i], layers_[i].denoiser->drain())) continue;
    while (collect(pictures_, picture_->drain())) continue;
    return combined();
  }

 private:
  static bool collect(std::deque<Frame>& results, std::optional<Frame> result) {
    if (!result) return false;
    results.push_back(*std::move(result));
    return true;
  }

  std::optional<Frame> combined() {
    const auto has_none = [](const std::deque<Frame>& results) { return results.empty(); };
    if (pictures_.empty() || std::ranges::any_of(results_, has_none)) return std::nullopt;
    Frame picture = std::move(pictures_.front());
    pictures_.pop_front();
    std::vector<io::FilteredLayer> filtered;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      Frame& samples = results_[i].front();
      samples.side_data.reset();
      if (samples.pixels) filtered.push_back({layers_[i].layer, std::move(samples)});
      results_[i].pop_front();
    }
    if (picture.pixels) io::set_layers(picture, std::move(filtered));
    return picture;
  }

  std::unique_ptr<Denoiser> picture_;
  std::vector<LayerDenoiser> layers_;
  std::deque<Frame> pictures_;
  std::vector<std::deque<Frame>> results_;  // results of each layer
};

}  // namespace

std::unique_ptr<Denoiser> layered(std::unique_ptr<Denoiser> picture,
                                  std::vector<LayerDenoiser> layers) {
  if (layers.empty()) return picture;
  return std::make_unique<LayeredDenoiser>(std::move(picture), std::move(layers));
}

}  // namespace lull::tools
