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

/// The original file that a picture was read from. It accompanies the picture.
struct Origin {
  AVBufferRef* file = nullptr;  // the complete file
  int threads = 0;
  std::vector<LayerName> layers;  // all layers of the file
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

/// Returns a reference-counted buffer that owns `origin`. The buffer's data are the bytes of the
/// file.
AVBufferRef* in_buffer(std::unique_ptr<Origin> origin) {
  const auto release = [](void* held, std::uint8_t*) { delete static_cast<Origin*>(held); };
  AVBufferRef* buffer = non_null(av_buffer_create(origin->file->data, origin->file->size, release,
                                                  origin.get(), AV_BUFFER_FLAG_READONLY));
  origin.release();
  return buffer;
}

/// Returns the original file of a frame; null if the frame was not read from an OpenEXR file.
const Origin* origin_of(const Frame& frame) {
  if (!frame.side_data || !frame.side_data->properties) return nullptr;
  const AVBufferRef* bytes = frame.side_data->properties->opaque_ref;
  return bytes ? static_cast<const Origin*>(av_buffer_get_opaque(bytes)) : nullptr;
}

ExrFile file_of(const Origin& origin) {
  return {{origin.file->data, origin.file->size}, input_name, origin.threads};
}

void check_size(const ExrWindow& window, const std::string& path, std::int64_t max_pixels) {
  const double pixels = (double{1} + window.x1 - window.x0) * (double{1} + window.y1 - window.y0);
  if (pixels > static_cast<double>(max_pixels))
    throw BadData("'" + path + "' has more than " + std::to_string(max_pixels) +
                  " pixels in a frame; allow it with --max-pixels");
}

/// FFmpeg's order of planes is G, B, R, A.
constexpr std::array<int, 4> plane_of = {2, 0, 1, 3};

/// Creates the picture without samples, and fills `request` with the channels that must be read
/// into it.
FramePtr make_picture(const ExrFile& exr, ExrFile::ReadRequest& request) {
  const ExrLayer& layer = *request.layer;
  const ExrWindow window = exr.window(layer);
  request.channels = exr.picture_channels();
  const bool rgb = request.channels.size() == 3;
  const std::string* alpha = rgb ? layer.channel("A") : nullptr;
  if (alpha) request.channels.push_back(*alpha);
  FramePtr picture = make_frame();
  picture->format = !rgb ? AV_PIX_FMT_GRAYF32 : alpha ? AV_PIX_FMT_GBRAPF32 : AV_PIX_FMT_GBRPF32;
  picture->width = window.width();
  picture->height = window.height();
  if (av_frame_get_buffer(picture.get(), 0) < 0) throw std::bad_alloc();
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

/// Creates a frame for some channels of a layer, which are given by their suffixes. Returns nullopt
/// if one of the channels does not exist.
std::optional<Frame> make_layer(const ExrFile& exr, const LayerName& name,
                                ExrFile::ReadRequest& request) {
  const auto layer = std::ranges::find(exr.layers(), name.name, &ExrLayer::name);
  if (layer == exr.layers().end()) return std::nullopt;
  request.layer = &*layer;
  for (const std::string& suffix : name.channels)
    if (const std::string* channel = layer->channel(suffix)) request.channels.push_back(*channel);
  if (request.channels.size() != name.channels.size()) return std::nullopt;
  const ExrWindow window = exr.window(*layer);
  FrameFormat format{.width = window.width(), .height = window.height()};
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

/// Adds those chosen layers that can be read together with the picture. read_layer() reads the
/// others later.
void add_layers(const ExrFile& exr, const LayerChoice& choice,
                std::vector<ExrFile::ReadRequest>& requests, Origin& origin) {
  const ExrWindow shown = exr.window(*requests.front().layer);
  for (const LayerName& name : choice(origin.layers)) {
    ExrFile::ReadRequest request;
    std::optional<Frame> frame = make_layer(exr, name, request);
    if (!frame || exr.window(*request.layer) != shown || overlaps(requests, request)) continue;
    requests.push_back(std::move(request));
    origin.read.push_back({name, *std::move(frame)});
  }
}

}  // namespace

FramePtr read_exr(const AVPacket& file, const std::string& path, const SourceOptions& options) {
  const ExrFile exr({file.data, static_cast<std::size_t>(file.size)}, path, options.threads);
  std::vector<ExrFile::ReadRequest> requests{{.layer = &exr.picture(), .channels = {}, .to = {}}};
  check_size(exr.window(*requests.front().layer), path, options.limits.pixels);
  exr.check_chunks(*requests.front().layer);
  FramePtr picture = make_picture(exr, requests.front());
  auto origin = std::make_unique<Origin>();
  origin->threads = options.threads;
  for (const ExrLayer& layer : exr.layers()) origin->layers.push_back({layer.name, layer.suffixes});
  if (options.layers) add_layers(exr, options.layers, requests, *origin);
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
  const std::vector<std::string> channels = exr.picture_channels();
  std::vector<PlaneView<const float>> planes;
  for (int i = 0; i < frame.format.planes(); ++i) planes.emplace_back(frame.plane<float>(i));
  if (planes.size() != channels.size())
    throw InternalError("the writer of OpenEXR got a frame of another layout");
  return exr.with_picture(channels, planes);
}

std::vector<LayerName> layers_of(const Frame& frame) {
  const Origin* origin = origin_of(frame);
  return origin ? origin->layers : std::vector<LayerName>();
}

std::string layers_text(const Frame& frame) {
  const Origin* origin = origin_of(frame);
  return origin ? file_of(*origin).text() : "no layers";
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
  const ExrWindow own = exr.window(*request.front().layer), shown = exr.window(exr.picture());
  if (own != shown)
    throw BadData("the layer " + std::string(name) + " is of " + std::to_string(own.width()) + "x" +
                  std::to_string(own.height()) + " pixels, the picture of " +
                  std::to_string(shown.width()) + "x" + std::to_string(shown.height()) +
                  " (or lies elsewhere); give one that covers it");
  exr.read(request);
  return *result;
}

}  // namespace lull::io
