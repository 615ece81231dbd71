#include "io/exr/exr_picture.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "core/frame_pool.h"
#include "io/exr/exr_file.h"
#include "io/ffmpeg/side_data.h"
#include "io/layers.h"

namespace lull::io {
namespace {

const std::string input_name = "the input";  // the file name is not known here

/// The OpenEXR file of a picture. AVFrame::opaque_ref of the picture refers to this object.
struct Origin {
  AVBufferRef* file = nullptr;  // the complete file
  int threads = 0;
  std::string picture;            // SourceOptions::layer
  std::vector<LayerInfo> layers;  // all layers of the file
  struct Read {
    LayerName layer;
    Frame frame;
  };
  std::vector<Read> read;

  Origin() = default;
  ~Origin() { av_buffer_unref(&file); }
  Origin(const Origin&) = delete;
  Origin& operator=(const Origin&) = delete;
};

/// Returns a reference-counted buffer that owns `origin` and contains the bytes of the file.
AVBufferRef* in_buffer(std::unique_ptr<Origin> origin) {
  const auto release = [](void* held, std::uint8_t*) { delete static_cast<Origin*>(held); };
  AVBufferRef* buffer = non_null(av_buffer_create(origin->file->data, origin->file->size, release,
                                                  origin.get(), AV_BUFFER_FLAG_READONLY));
  origin.release();
  return buffer;
}

/// Returns the OpenEXR file of a frame; null for frames of other files.
const Origin* origin_of(const Frame& frame) {
  if (!frame.side_data || !frame.side_data->properties) return nullptr;
  const AVBufferRef* bytes = frame.side_data->properties->opaque_ref;
  return bytes ? static_cast<const Origin*>(av_buffer_get_opaque(bytes)) : nullptr;
}

ExrFile file_of(const Origin& origin) {
  return {{origin.file->data, origin.file->size}, input_name, origin.threads, origin.picture};
}

void check_size(const LayerWindow& window, const std::string& path, std::int64_t max_pixels) {
  const double pixels = (double{1} + window.x1 - window.x0) * (double{1} + window.y1 - window.y0);
  if (pixels > static_cast<double>(max_pixels))
    throw BadData("'" + path + "' has more than " + std::to_string(max_pixels) +
                  " pixels in a frame; allow it with --max-pixels");
}

/// The plane indices of R, G, B and A in FFmpeg's plane order G, B, R, A.
constexpr std::array<int, 4> plane_of = {2, 0, 1, 3};

/// Creates the picture with uninitialised samples, and adds its channels to `request`.
FramePtr start_picture(const ExrFile& exr, ExrFile::ReadRequest& request) {
  const ExrLayer& layer = *request.layer;
  const LayerWindow& window = layer.window;
  request.channels = exr.picture_channels();
  const bool rgb = request.channels.size() == 3;
  const std::string* alpha = rgb ? layer.channel("A") : nullptr;
  if (alpha) request.channels.push_back(*alpha);
  FramePtr picture = make_picture(!rgb    ? AV_PIX_FMT_GRAYF32
                                  : alpha ? AV_PIX_FMT_GBRAPF32
                                          : AV_PIX_FMT_GBRPF32,
                                  window.width(), window.height());
  for (std::size_t i = 0; i < request.channels.size(); ++i) {
    const int p = rgb ? plane_of[i] : 0;
    request.to.emplace_back(reinterpret_cast<float*>(picture->data[p]), window.width(),
                            window.height(),
                            picture->linesize[p] / static_cast<std::ptrdiff_t>(sizeof(float)));
  }
  if (rgb) picture->colorspace = AVCOL_SPC_RGB;
  if (const double aspect = exr.pixel_aspect(layer); aspect > 0 && aspect != 1)
    picture->sample_aspect_ratio = av_d2q(aspect, 10000);
  return picture;
}

/// Creates a frame for the channels `name.channels`, and adds these channels to `request`. Returns
/// nullopt if a channel is missing.
std::optional<Frame> make_layer(const ExrFile& exr, const LayerName& name,
                                ExrFile::ReadRequest& request) {
  const auto layer = std::ranges::find(exr.layers(), name.name, &ExrLayer::name);
  if (layer == exr.layers().end()) return std::nullopt;
  request.layer = &*layer;
  for (const std::string& suffix : name.channels)
    if (const std::string* channel = layer->channel(suffix)) request.channels.push_back(*channel);
  if (request.channels.size() != name.channels.size()) return std::nullopt;
  FrameFormat format{.width = layer->window.width(), .height = layer->window.height()};
  format.layout = request.channels.size() == 3 ? Layout::rgb : Layout::gray;
  format.sample = SampleType::f32;
  format.bits = 32;
  Frame frame = FramePool(format).acquire();
  for (int i = 0; i < format.planes(); ++i) request.to.push_back(frame.plane<float>(i));
  return frame;
}

bool overlaps(const std::vector<ExrFile::ReadRequest>& requests, const ExrFile::ReadRequest& one) {
  return std::ranges::any_of(requests, [&](const ExrFile::ReadRequest& other) {
    return other.layer->part == one.layer->part &&
           std::ranges::find_first_of(other.channels, one.channels) != other.channels.end();
  });
}

/// Adds a read request for each layer in options.layers, except for layers that share channels with
/// an earlier request. For a layer without a request, `read_layer()` later decompresses the file
/// again.
void add_layers(const ExrFile& exr, const std::string& path, const SourceOptions& options,
                std::vector<ExrFile::ReadRequest>& requests, Origin& origin) {
  for (const LayerName& name : options.layers(origin.layers)) {
    ExrFile::ReadRequest request;
    const auto layer = std::ranges::find(exr.layers(), name.name, &ExrLayer::name);
    if (layer == exr.layers().end() || !layer->can_be_read) continue;
    check_size(layer->window, path, options.limits.pixels);
    std::optional<Frame> frame = make_layer(exr, name, request);
    if (!frame || overlaps(requests, request)) continue;
    requests.push_back(std::move(request));
    origin.read.push_back({name, *std::move(frame)});
  }
}

/// Returns a request to write the planes of `frame` to the channels `suffixes` of a layer.
ExrFile::NewSamples new_samples(const ExrLayer& layer, const std::vector<std::string>& suffixes,
                                const Frame& frame) {
  ExrFile::NewSamples samples{.layer = &layer, .channels = {}, .from = {}};
  for (const std::string& suffix : suffixes) samples.channels.push_back(*layer.channel(suffix));
  for (int i = 0; i < frame.format.planes(); ++i) samples.from.emplace_back(frame.plane<float>(i));
  if (samples.from.size() != samples.channels.size() ||
      frame.format.width != layer.window.width() || frame.format.height != layer.window.height())
    throw InternalError("the writer of OpenEXR got a frame of another layout");
  return samples;
}

}  // namespace

FramePtr read_exr(const AVPacket& file, const std::string& path, const SourceOptions& options) {
  const ExrFile exr({file.data, static_cast<std::size_t>(file.size)}, path, options.threads,
                    options.layer);
  std::vector<ExrFile::ReadRequest> requests{{.layer = &exr.picture(), .channels = {}, .to = {}}};
  check_size(exr.picture().window, path, options.limits.pixels);
  exr.check_chunks();
  FramePtr picture = start_picture(exr, requests.front());
  auto origin = std::make_unique<Origin>();
  origin->threads = options.threads;
  origin->picture = options.layer;
  origin->layers.assign(exr.layers().begin(), exr.layers().end());
  if (options.layers) add_layers(exr, path, options, requests, *origin);
  exr.read(requests);
  if (file.buf && file.data == file.buf->data) {
    origin->file = non_null(av_buffer_ref(file.buf));
  } else {
    origin->file = non_null(av_buffer_alloc(static_cast<std::size_t>(file.size)));
    std::copy_n(file.data, file.size, origin->file->data);
  }
  picture->opaque_ref = in_buffer(std::move(origin));
  picture->pts = picture->best_effort_timestamp = file.pts;
  return picture;
}

PacketPtr write_exr(const Frame& frame) {
  const ExrFile exr = file_of(*origin_of(frame));
  const ExrLayer& picture = exr.picture();
  std::vector<ExrFile::NewSamples> samples{new_samples(picture, picture.picture_channels(), frame)};
  for (const FilteredLayer& one : frame.side_data->layers) {
    const auto layer = std::ranges::find(exr.layers(), one.layer.name, &ExrLayer::name);
    if (layer == exr.layers().end())
      throw InternalError("the writer of OpenEXR got a foreign layer");
    samples.push_back(new_samples(*layer, one.layer.channels, one.samples));
  }
  return exr.with_samples(samples);
}

std::vector<LayerInfo> layers_of(const Frame& frame) {
  const Origin* origin = origin_of(frame);
  return origin ? origin->layers : std::vector<LayerInfo>();
}

std::string layers_text(const Frame& frame) {
  const Origin* origin = origin_of(frame);
  return origin ? file_of(*origin).text() : "no layers";
}

const LayerInfo* find_layer(const std::vector<LayerInfo>& all, std::string_view name) {
  return find_layer_named(all, name);
}

Frame read_layer(const Frame& frame, std::string_view name,
                 const std::vector<std::string>& channels) {
  const Origin* origin = origin_of(frame);
  if (!origin) throw BadData("no layer " + std::string(name) + " (the input has none)");
  for (const Origin::Read& one : origin->read)
    if (one.layer.name == name && one.layer.channels == channels) return one.frame;
  const ExrFile exr = file_of(*origin);
  std::vector<ExrFile::ReadRequest> request(1);
  const std::optional<Frame> result =
      make_layer(exr, {std::string(name), channels}, request.front());
  if (!result)
    throw BadData("no layer " + std::string(name) + " with these channels (there is " + exr.text() +
                  "); name another");
  exr.read(request);
  return *result;
}

void set_layers(Frame& frame, std::vector<FilteredLayer> layers) {
  std::shared_ptr<SideData> side_data = copy_of(frame.side_data.get());
  side_data->layers = std::move(layers);
  frame.side_data = std::move(side_data);
}

}  // namespace lull::io
