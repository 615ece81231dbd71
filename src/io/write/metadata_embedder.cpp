#include "io/write/metadata_embedder.h"

#include <algorithm>
#include <utility>

#include "io/encode/picture_side_data.h"
#include "io/metadata/orientation.h"
#include "io/tiff/tiff_picture.h"

namespace lull::io {
namespace {

ByteView data_of(const AVFrame& frame, AVFrameSideDataType type) {
  const AVFrameSideData* data = av_frame_get_side_data(&frame, type);
  return data ? ByteView(data->data, data->size) : ByteView();
}

Layout layout_of(AVPixelFormat format) {
  const std::optional<PixelTraits> traits = traits_of(format);
  return traits ? traits->format.layout : Layout::rgb;
}

bool makes_big_tiff(const FrameFormat& format, AVPixelFormat samples) {
  const FramePtr picture = make_frame();
  picture->width = format.width;
  picture->height = format.height;
  picture->format = samples;
  return needs_big_tiff(*picture);
}

void add_new(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

}  // namespace

MetadataEmbedder::MetadataEmbedder(const FileSource& source, const Container& container,
                                   const SinkOptions& options,
                                   const std::vector<EncoderChoice>& choices) {
  const FrameFormat format = written_format(source, options);
  target_ = {
      .kind = kind_of_extension(container.extension),
      .name = "." + container.extension,
      .is_scaled = format.width != source.format().width || format.height != source.format().height,
      .width = format.width,
      .height = format.height,
      .from = source.format().layout,
      .to = choices.empty() ? source.format().layout : layout_of(choices.front().format),
      .can_rotate = !choices.empty() && std::ranges::all_of(choices, [](const auto& choice) {
        return can_rotate(choice.format);
      })};
  target_.is_big_tiff = target_.kind == PictureKind::tiff && !choices.empty() &&
                        makes_big_tiff(format, choices.front().format);
  const auto matrix = stream_data(source.demuxer().video(), AV_PKT_DATA_DISPLAYMATRIX);
  stream_matrix_.assign(matrix.begin(), matrix.end());
  PreparedMetadata first = prepare(source.first(), source.first_metadata(),
                                   picture_data(source, AV_PKT_DATA_DISPLAYMATRIX));
  rotation_ = first.rotation;
  note(first);
}

PreparedMetadata MetadataEmbedder::prepare(const AVFrame& properties,
                                           const PictureMetadata* metadata,
                                           std::span<const std::uint8_t> matrix) {
  PictureMetadata all = metadata ? *metadata : PictureMetadata();
  const std::optional<int> orientation = orientation_of(matrix);
  all.orientation = orientation.value_or(1);
  if (const ByteView icc = data_of(properties, AV_FRAME_DATA_ICC_PROFILE);
      all.icc.empty() && !icc.empty())
    all.icc.assign(icc.begin(), icc.end());
  PreparedMetadata prepared = prepare_metadata(std::move(all), target_);
  if (!orientation)
    prepared.losses.push_back("the rotation (pictures are rotated by multiples of 90 degrees)");
  return prepared;
}

void MetadataEmbedder::note(PreparedMetadata& prepared) {
  for (const std::string& loss : prepared.losses) add_new(losses_, loss);
  for (const std::string& text : prepared.notes) add_new(notes_, text);
}

void MetadataEmbedder::push(const Frame& frame) {
  const AVFrame& properties = *frame.side_data->properties;
  ByteView matrix = data_of(properties, AV_FRAME_DATA_DISPLAYMATRIX);
  if (matrix.empty()) matrix = stream_matrix_;
  PreparedMetadata prepared = prepare(properties, frame.side_data->metadata.get(), matrix);
  note(prepared);
  if (prepared.rotation != rotation_)
    throw InvalidArgument("picture " + std::to_string(frame.side_data->number) +
                          " has another orientation than the first picture (" + target_.name +
                          " cannot hold it); write .png or .jpg");
  pending_.push_back(std::move(prepared.metadata));
}

PictureMetadata MetadataEmbedder::next() {
  if (pending_.empty()) throw InternalError("the encoder made a picture of nothing");
  PictureMetadata metadata = std::move(pending_.front());
  pending_.pop_front();
  return metadata;
}

PacketPtr MetadataEmbedder::embed(PacketPtr picture) {
  const PictureMetadata metadata = next();
  if (target_.kind == PictureKind::other) return picture;
  // A TIFF packet without metadata remains unchanged.
  if (target_.kind == PictureKind::tiff && metadata.empty()) return picture;
  PacketPtr out =
      packet_of(embed_metadata({picture->data, static_cast<std::size_t>(picture->size)}, metadata));
  check<InternalError>(av_packet_copy_props(out.get(), picture.get()), "cannot copy a packet");
  return out;
}

std::vector<std::string> picture_losses_in_video(const FileSource& source,
                                                 const Container& container) {
  if (!source.first_metadata()) return {};
  const PictureTarget target{.name = "." + container.extension, .is_video = true};
  return prepare_metadata(*source.first_metadata(), target).losses;
}

}  // namespace lull::io
