// Reads DICOM files with DCMTK.

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcfilefo.h>
#include <dcmtk/dcmdata/dcmetinf.h>
#include <dcmtk/dcmdata/dcrledrg.h>
#include <dcmtk/dcmdata/dcxfer.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "io/dicom/dcmtk_setup.h"
#include "io/dicom/dicom.h"
#include "io/dicom/dicom_files.h"
#include "io/dicom/dicom_images.h"
#include "io/dicom/frame_decoder.h"
#include "io/volumes/gzip_stream.h"
#include "io/volumes/nifti_fields.h"

namespace lull::io {
namespace {

constexpr int max_frames = 1 << 20;

/// Reads attributes of a DICOM data set or of a sequence item. The data set must outlive this
/// object.
class Attributes {
 public:
  explicit Attributes(DcmItem& item) : item_(&item) {}

  std::string text(DcmTagKey tag) const { return dicom_text(*item_, tag); }
  /// Returns the numbers in an attribute; empty if the attribute does not have exactly `count`
  /// finite numbers.
  std::vector<double> numbers(DcmTagKey tag, std::size_t count) const {
    const std::string all = text(tag);
    std::vector<double> numbers;
    for (std::size_t at = 0; at <= all.size();) {
      const std::size_t end = std::min(all.find('\\', at), all.size());
      std::string word = all.substr(at, end - at);
      word.erase(0, std::min(word.find_first_not_of(" +"), word.size()));
      double value = 0;
      if (std::from_chars(word.data(), word.data() + word.size(), value).ec != std::errc() ||
          !std::isfinite(value))
        return {};
      numbers.push_back(value);
      at = end + 1;
    }
    return numbers.size() == count ? numbers : std::vector<double>{};
  }
  double number(DcmTagKey tag, double fallback) const {
    const std::vector<double> values = numbers(tag, 1);
    return values.empty() ? fallback : values[0];
  }
  int integer(DcmTagKey tag, int fallback) const {
    const double value = number(tag, fallback);
    return std::abs(value) < 2e9 ? static_cast<int>(value) : fallback;
  }
  /// Returns a binary integer attribute of 16 or 32 bits (US, UL); `fallback` if there is none.
  std::int64_t binary(DcmTagKey tag, std::int64_t fallback) const {
    Uint16 narrow = 0;
    Uint32 wide = 0;
    if (item_->findAndGetUint16(tag, narrow).good()) return narrow;
    return item_->findAndGetUint32(tag, wide).good() ? wide : fallback;
  }
  /// Returns item `n` (from 0) of a sequence; nullopt if there is none.
  std::optional<Attributes> item(DcmTagKey sequence, std::size_t n = 0) const {
    DcmItem* found = nullptr;
    if (item_->findAndGetSequenceItem(sequence, found, static_cast<long>(n)).bad() || !found)
      return std::nullopt;
    return Attributes(*found);
  }

 private:
  DcmItem* item_;
};

/// Finds the attributes of a frame. The functional groups of the frame have priority over the
/// functional groups for all frames, and both have priority over the data set.
class FrameGroups {
 public:
  FrameGroups(const Attributes& top, std::size_t frame)
      : top_(top), own_(top.item({0x5200, 0x9230}, frame)), shared_(top.item({0x5200, 0x9229})) {}

  Attributes group(DcmTagKey sequence) const {
    for (const auto* groups : {&own_, &shared_})
      if (*groups)
        if (auto found = (*groups)->item(sequence)) return *found;
    return top_;
  }

 private:
  const Attributes& top_;
  std::optional<Attributes> own_, shared_;
};

template <std::size_t count>
std::optional<std::array<double, count>> fixed(const std::vector<double>& numbers) {
  if (numbers.size() != count) return std::nullopt;
  std::array<double, count> result;
  std::ranges::copy(numbers, result.begin());
  return result;
}

DicomFrame read_frame(const Attributes& top, std::size_t index) {
  const FrameGroups groups(top, index);
  DicomFrame frame;
  frame.plane.position = fixed<3>(groups.group({0x0020, 0x9113}).numbers({0x0020, 0x0032}, 3));
  frame.plane.orientation = fixed<6>(groups.group({0x0020, 0x9116}).numbers({0x0020, 0x0037}, 6));
  const Attributes measures = groups.group({0x0028, 0x9110});
  frame.plane.spacing = fixed<2>(measures.numbers({0x0028, 0x0030}, 2));
  if (!frame.plane.spacing) frame.plane.spacing = fixed<2>(top.numbers({0x0018, 0x1164}, 2));
  if (frame.plane.spacing && !((*frame.plane.spacing)[0] > 0 && (*frame.plane.spacing)[1] > 0))
    frame.plane.spacing.reset();
  const double between = measures.number({0x0018, 0x0088}, top.number({0x0018, 0x0088}, 0));
  frame.plane.thickness = between > 0 ? between : measures.number({0x0018, 0x0050}, 0);
  const Attributes values = groups.group({0x0028, 0x9145});
  // RT Dose has the attribute Dose Grid Scaling instead of a rescale slope.
  frame.slope = values.number({0x0028, 0x1053}, top.number({0x3004, 0x000e}, 1));
  frame.inter = values.number({0x0028, 0x1052}, 0);
  if (frame.slope == 0) frame.slope = 1;
  const auto content = groups.group({0x0020, 0x9111});
  frame.time = static_cast<int>(content.binary({0x0020, 0x9128}, top.integer({0x0020, 0x0100}, 0)) &
                                0x7fffffff);
  return frame;
}

/// Returns why lull cannot filter the samples of an image; empty if lull can filter the samples.
std::string problem_of(const Attributes& top, const DicomSampleFormat& format) {
  if (top.binary({0x0028, 0x0002}, 1) != 1 || top.text({0x0028, 0x0004}) == "PALETTE COLOR")
    return "has colours (lull reads grey DICOM images)";
  if (format.bits_allocated != 8 && format.bits_allocated != 16 && format.bits_allocated != 32)
    return "has samples of " + std::to_string(format.bits_allocated) +
           " bits (lull reads DICOM images of 8, 16 and 32 bits)";
  if (format.bits_stored < 1 || format.bits_stored > format.bits_allocated ||
      top.binary({0x0028, 0x0102}, format.bits_stored - 1) != format.bits_stored - 1)
    return "has contradicting numbers of bits (Bits Stored, High Bit)";
  if (format.frames < 1 || format.frames > max_frames)
    return "has " + std::to_string(format.frames) + " frames (must be 1 to " +
           std::to_string(max_frames) + ")";
  if (top.text({0x0008, 0x0008}).find("MOSAIC") != std::string::npos)
    return "has the slices of a volume in one picture (mosaic); convert it with dcm2niix";
  return {};
}

[[noreturn]] void fail_to_load(DcmFileFormat& file, const std::string& path) {
  const std::string syntax = dicom_text(*file.getMetaInfo(), DcmTagKey(0x0002, 0x0010));
  if (!syntax.empty() && DcmXfer(syntax.c_str()).getXfer() == EXS_Unknown)
    throw BadData("'" + path + "' has the transfer syntax " + syntax.substr(0, 64) +
                  ", which lull does not know; decompress it first");
  throw BadData("'" + path + "' is a damaged DICOM file");
}

/// Returns the description of an image; nullopt for files without an image.
std::optional<DicomImage> read_image(const std::string& path) {
  set_up_dcmtk();
  DcmFileFormat file;
  const OFCondition status =
      file.loadFileUntilTag(path.c_str(), EXS_Unknown, EGL_noChange, DCM_MaxReadLength,
                            ERM_fileOnly, DcmTagKey(0x7fe0, 0x0010));
  if (status.bad()) fail_to_load(file, path);
  const Attributes top(*file.getDataset());
  DicomImage image;
  image.path = path;
  image.sop_uid = top.text({0x0008, 0x0018});
  image.series_uid = top.text({0x0020, 0x000e});
  image.series_number = top.text({0x0020, 0x0011});
  image.series_text = top.text({0x0008, 0x103e});
  image.format.rows = static_cast<int>(top.binary({0x0028, 0x0010}, 0));
  image.format.columns = static_cast<int>(top.binary({0x0028, 0x0011}, 0));
  if (image.format.rows < 1 || image.format.columns < 1) return std::nullopt;
  image.format.frames = top.integer({0x0028, 0x0008}, 1);
  image.format.bits_allocated = static_cast<int>(top.binary({0x0028, 0x0100}, 0) & 0xffff);
  image.format.bits_stored =
      static_cast<int>(top.binary({0x0028, 0x0101}, image.format.bits_allocated) & 0xffff);
  image.format.is_signed = top.binary({0x0028, 0x0103}, 0) == 1;
  image.problem = problem_of(top, image.format);
  if (!image.problem.empty()) return image;
  image.instance = top.integer({0x0020, 0x0013}, 0);
  image.repetition_time = std::max(0.0, top.number({0x0018, 0x0080}, 0));
  for (int f = 0; f < image.format.frames; ++f)
    image.frames.push_back(read_frame(top, static_cast<std::size_t>(f)));
  const bool has_groups = top.item({0x5200, 0x9229}) || top.item({0x5200, 0x9230});
  if (image.frames.size() > 1 && !has_groups)
    place_frames(image.frames, top.numbers({0x3004, 0x000c}, image.frames.size()));
  return image;
}

/// Reads the samples of all slices, in the order of the volume.
class DicomSamples final : public SampleBytes {
 public:
  explicit DicomSamples(std::shared_ptr<const DicomVolume> volume) : volume_(std::move(volume)) {}

  std::size_t read_some(std::span<std::byte> to) override {
    std::size_t done = 0;
    while (done < to.size()) {
      if (at_ == slice_.size()) {
        if (next_ == volume_->slices.size()) break;
        load(volume_->slices[next_++]);
      }
      const std::size_t part = std::min(to.size() - done, slice_.size() - at_);
      std::memcpy(&to[done], &slice_[at_], part);
      done += part;
      at_ += part;
    }
    return done;
  }
  void rewind() override {
    next_ = at_ = 0;
    slice_.clear();
  }

 private:
  const std::string& name() const override { return volume_->images.front().path; }

  void load(const DicomSlice& slice) {
    if (image_ != slice.image) {
      image_.reset();
      decoder_ = std::make_unique<FrameDecoder>(volume_->images[slice.image]);
      image_ = slice.image;
    }
    const DicomSampleFormat& format = volume_->images[slice.image].format;
    decoder_->decode(slice.frame, frame_);
    at_ = 0;
    if (!volume_->has_scales) {
      slice_ = frame_;
      return;
    }
    using enum StoredType;
    const StoredFormat stored{.type = format.bits_allocated == 8 ? (format.is_signed ? i8 : u8)
                                      : format.bits_allocated == 16
                                          ? (format.is_signed ? i16 : u16)
                                          : (format.is_signed ? i32 : u32),
                              .slope = slice.slope,
                              .inter = slice.inter};
    load_values(frame_, stored, values_);
    slice_.resize(values_.size() * sizeof(float));
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const auto value = static_cast<float>(values_[i]);
      std::memcpy(&slice_[i * sizeof(float)], &value, sizeof(float));
    }
  }

  std::shared_ptr<const DicomVolume> volume_;
  std::optional<std::size_t> image_;  // the file of decoder_
  std::unique_ptr<FrameDecoder> decoder_;
  std::vector<std::byte> frame_, slice_;
  std::vector<double> values_;
  std::size_t next_ = 0, at_ = 0;
};

}  // namespace

ForeignVolume read_dicom(const std::string& path, const std::string& series) {
  std::error_code code;
  std::vector<std::string> files{path};
  if (std::filesystem::is_directory(path, code)) files = dicom_files_in(path, false);
  std::ranges::sort(files);
  std::vector<DicomImage> images;
  for (const std::string& file : files)
    if (auto image = read_image(file)) images.push_back(*std::move(image));
  if (images.empty()) throw BadData("'" + path + "' contains no DICOM image");
  // A folder may also contain series that lull cannot read, such as a dose report in colours.
  images = choose_series(std::move(images), path, series);
  for (const DicomImage& image : images)
    if (!image.problem.empty()) throw BadData("'" + image.path + "' " + image.problem);
  auto volume = std::make_shared<DicomVolume>(arrange(std::move(images), path));
  for (const std::int64_t size : {volume->geometry.size[2], volume->geometry.volumes})
    if (size > 32767)
      throw BadData("'" + path + "' has " + std::to_string(size) + " slices (at most 32767)");
  ForeignVolume result{.format = "dicom", .geometry = volume->geometry};
  for (const DicomImage& image : volume->images) result.files.push_back(image.path);
  result.head = make_nifti_head(volume->geometry, volume->samples);
  result.other_contents = {"the attributes of the DICOM files other than their geometry"};
  result.dicom = volume;
  result.open_samples = [volume] { return std::make_unique<DicomSamples>(volume); };
  return result;
}

}  // namespace lull::io
