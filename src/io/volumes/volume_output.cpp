#include "io/volumes/volume_output.h"

#include <filesystem>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/volumes/mgh.h"
#include "io/volumes/nifti_fields.h"
#include "io/volumes/nifti_pair.h"
#include "io/volumes/nrrd_header.h"

namespace lull::io {
namespace {

/// Builds a VolumeOutput, which describes the contents of an output.
class OutputBuilder {
 public:
  OutputBuilder(const std::string& path, const VolumeInput& input, const OutputSamples& samples)
      : path_(path),
        input_(input),
        samples_(samples),
        from_(input.foreign ? input.foreign->format : "nifti"),
        format_(volume_format(path)) {}

  VolumeOutput build() {
    out_.container = container_of(format_);
    switch (format_) {
      case VolumeFormat::nrrd:
      case VolumeFormat::nrrd_header:
        write_nrrd();
        break;
      case VolumeFormat::mgh:
      case VolumeFormat::mgz:
        write_mgh();
        break;
      case VolumeFormat::pair:
        write_pair();
        break;
      case VolumeFormat::nifti:
      case VolumeFormat::none:
        write_nifti();
        break;
    }
    if (!samples_.loss.empty()) out_.losses.push_back(samples_.loss);
    return std::move(out_);
  }

 private:
  bool is_from(std::string_view format) const { return from_ == format; }

  /// Reports all parts of the input's header as lost, except the geometry and the description of
  /// the samples. The list of losses contains one string for each lost part. `why` is the reason in
  /// these strings.
  void lose_other_contents(const char* why) {
    std::vector<std::string> contents;
    if (is_from("nifti") || is_from("nifti1 pair"))
      contents = other_contents_of_nifti(input_.head, input_.header);
    else if (is_from("mgh"))
      contents = other_contents_of_mgh(input_.tail);
    else
      contents = input_.foreign->other_contents;
    for (const std::string& content : contents) out_.losses.push_back(content + " (" + why + ")");
  }

  std::string original_text() const {
    const auto& bytes = input_.foreign->original;
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  void write_nrrd() {
    const bool stays = is_from("nrrd");
    if (!stays) lose_other_contents("NRRD has no field for it");
    out_.is_gzip = !stays || input_.foreign->is_gzip;
    out_.data_path = separate_samples(path_, out_.is_gzip);
    const std::string name = std::filesystem::path(out_.data_path).filename().string();
    if (name.find('%') != name.npos || name.starts_with("LIST"))
      throw InvalidArgument("'" + path_ + "' would name its samples '" + name +
                            "' (NRRD reads such a name as a list of files); choose another name");
    const std::string text = make_nrrd_text(input_.geometry(), samples_.format, out_.is_gzip, name,
                                            stays ? original_text() : std::string());
    const auto bytes = std::as_bytes(std::span(text));
    out_.head.assign(bytes.begin(), bytes.end());
  }

  void write_mgh() {
    const bool stays = is_from("mgh");
    const VolumeGeometry geometry = input_.geometry();
    for (const std::int64_t size :
         {geometry.size[0], geometry.size[1], geometry.size[2], geometry.volumes})
      if (size > 32767)
        throw InvalidArgument("'" + path_ + "' cannot have " + std::to_string(size) +
                              " samples along an axis (MGH: at most 32767); choose .nii or .nrrd");
    if (!stays) lose_other_contents("MGH has no field for it");
    if (!geometry.is_oriented)
      out_.losses.emplace_back(
          "that the input states no orientation (the axes of the MGH file point to the right, to "
          "the front and up)");
    out_.head = make_mgh_head(geometry, samples_.format.type,
                              stays ? std::span<const std::byte>(input_.foreign->original)
                                    : std::span<const std::byte>{});
    out_.tail = stays ? input_.tail : make_mgh_tail(geometry);
    out_.is_head_gzip = out_.is_gzip = format_ == VolumeFormat::mgz;
  }

  void write_pair() {
    out_.is_head_gzip = out_.is_gzip = is_gzip_name(path_);
    out_.data_path = separate_samples(path_, out_.is_gzip);
    if (is_from("nifti1 pair") || is_from("analyze")) {
      out_.head = pair_head_of(input_.foreign->original, is_from("analyze"), input_.header,
                               samples_.format, samples_.scaled);
      return;
    }
    if (input_.header.version != 1)
      throw InvalidArgument("'" + path_ +
                            "' cannot be made of a NIfTI-2 file (pairs have NIfTI-1 headers); "
                            "choose .nii or .nii.gz");
    write_nifti_head();
    out_.head = pair_head_of_nifti(out_.head, input_.header);
  }

  void write_nifti() {
    out_.is_head_gzip = out_.is_gzip = is_gzip_name(path_);
    write_nifti_head();
  }

  void write_nifti_head() {
    out_.head = input_.head;
    if (is_from("mgh")) {  // the repetition time was read after the header
      out_.head = make_nifti_head(input_.geometry(), samples_.format);
      change_samples(out_.head, input_.header, samples_.format, samples_.scaled);
    }
    if (input_.foreign && !is_from("nifti1 pair")) lose_other_contents("NIfTI has no field for it");
    if (samples_.format != input_.header.samples || samples_.scaled != input_.header.scaled)
      change_samples(out_.head, input_.header, samples_.format, samples_.scaled);
  }

  const std::string& path_;
  const VolumeInput& input_;
  const OutputSamples& samples_;
  std::string from_;
  VolumeFormat format_;
  VolumeOutput out_;
};

}  // namespace

VolumeGeometry VolumeInput::geometry() const {
  if (!foreign) return geometry_of_nifti(head, header);
  VolumeGeometry geometry = foreign->geometry;
  if (geometry.volumes > 1 && !tail.empty()) geometry.seconds = repetition_time(tail);
  return geometry;
}

VolumeOutput make_volume_output(const std::string& path, const VolumeInput& input,
                                const OutputSamples& samples) {
  return OutputBuilder(path, input, samples).build();
}

}  // namespace lull::io
