// Writes DICOM files with DCMTK.
//
// Sources: DICOM PS3.3, C.7.6.1 (General Image: Image Type, Derivation Description, Source Image
// Sequence); PS3.5, B.2 (UIDs derived from UUIDs).

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcdeftag.h>
#include <dcmtk/dcmdata/dcfilefo.h>
#include <dcmtk/dcmdata/dcxfer.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/version.h"
#include "io/dicom/dcmtk_setup.h"
#include "io/dicom/dicom_images.h"
#include "io/dicom/dicom_output.h"
#include "io/files/output_folder.h"
#include "io/files/sha256.h"
#include "io/text_file.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

/// Returns a UID from the first 128 bits of a digest (PS3.5, B.2).
std::string uid_of(const std::string& digest) {
  __extension__ typedef unsigned __int128 Wide;
  Wide number = 0;
  for (const char c : digest.substr(0, 32))
    number = number * 16 + static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
  std::string digits;
  for (; number != 0; number /= 10)
    digits += static_cast<char>('0' + static_cast<int>(number % 10));
  std::ranges::reverse(digits);
  return "2.25." + (digits.empty() ? "0" : digits);
}

std::string derived_uid(const std::string& uid, std::span<const std::byte> samples) {
  Sha256 digest;
  digest.add(uid.data(), uid.size());
  digest.add(samples.data(), samples.size());
  return uid_of(digest.take());
}

/// Returns the description of the new series: the old description, followed by " (denoised)". The
/// old description may have any character set, so the function copies its bytes unchanged. The
/// function shortens a description only if all characters are ASCII.
std::string new_series_description(DcmDataset& set) {
  constexpr std::string_view addition = " (denoised)";
  constexpr std::size_t max_length = 64;
  OFString value;
  (void)set.findAndGetOFStringArray(DCM_SeriesDescription, value);
  std::string text(value.c_str(), value.size());
  text.erase(text.find_last_not_of(std::string_view(" \0", 2)) + 1);
  const bool is_ascii =
      std::ranges::all_of(text, [](unsigned char c) { return c >= 32 && c < 127; });
  if (is_ascii) text.resize(std::min(text.size(), max_length - addition.size()));
  return text.size() + addition.size() <= max_length ? text.append(addition) : text;
}

/// Marks an image as derived from the input image. Returns false on an error of DCMTK.
bool mark_as_derived(DcmDataset& set, const std::string& sop_uid, const std::string& series_uid) {
  const std::string type = dicom_text(set, DCM_ImageType);
  std::size_t rest = type.find('\\');
  rest = rest == type.npos ? rest : type.find('\\', rest + 1);
  const std::string new_type = "DERIVED\\SECONDARY" + (rest == type.npos ? "" : type.substr(rest));
  const std::string text = new_series_description(set);
  const std::string derivation = std::string("Denoised by lull ") + version;
  const std::string sop_class = dicom_text(set, DCM_SOPClassUID),
                    source_uid = dicom_text(set, DCM_SOPInstanceUID);
  for (const DcmTagKey& tag : {DCM_SourceImageSequence, DCM_SmallestImagePixelValue,
                               DCM_LargestImagePixelValue, DCM_PixelData})
    (void)set.findAndDeleteElement(tag);
  DcmItem* source = nullptr;
  if (set.findOrCreateSequenceItem(DCM_SourceImageSequence, source, 0).bad()) return false;
  return source->putAndInsertString(DCM_ReferencedSOPClassUID, sop_class.c_str()).good() &&
         source->putAndInsertString(DCM_ReferencedSOPInstanceUID, source_uid.c_str()).good() &&
         set.putAndInsertString(DCM_ImageType, new_type.c_str()).good() &&
         set.putAndInsertString(DCM_DerivationDescription, derivation.c_str()).good() &&
         set.putAndInsertString(DCM_SeriesDescription, text.c_str()).good() &&
         set.putAndInsertString(DCM_SOPInstanceUID, sop_uid.c_str()).good() &&
         set.putAndInsertString(DCM_SeriesInstanceUID, series_uid.c_str()).good();
}

bool put_samples(DcmDataset& set, std::span<const std::byte> samples, int bits_allocated) {
  std::vector<Uint16> words((samples.size() + 1) / 2);
  std::memcpy(words.data(), samples.data(), samples.size());
  if (bits_allocated > 8)
    return set.putAndInsertUint16Array(DCM_PixelData, words.data(), words.size()).good();
  return set
      .putAndInsertUint8Array(DCM_PixelData, reinterpret_cast<const Uint8*>(words.data()),
                              2 * words.size())
      .good();
}

/// Returns the bytes of an output file: a copy of the file of `image` with new samples and UIDs.
std::string file_with_samples(const DicomImage& image, std::span<const std::byte> samples,
                              const std::string& series_uid) {
  set_up_dcmtk();
  DcmFileFormat file;
  if (file.loadFile(image.path.c_str(), EXS_Unknown, EGL_noChange, DCM_MaxReadLength, ERM_fileOnly)
          .bad() ||
      file.loadAllDataIntoMemory().bad())
    throw BadData("'" + image.path + "' is a damaged DICOM file");
  DcmDataset& set = *file.getDataset();
  // Files with implicit VR do not state the types of private attributes, so the output must keep
  // implicit VR.
  const bool is_implicit = DcmXfer(set.getOriginalXfer()).isImplicitVR();
  const E_TransferSyntax syntax = is_implicit ? EXS_LittleEndianImplicit : EXS_LittleEndianExplicit;
  const TemporaryText temporary;
  if (!mark_as_derived(set, derived_uid(image.sop_uid, samples), series_uid) ||
      !put_samples(set, samples, image.format.bits_allocated) ||
      file.saveFile(temporary.path().c_str(), syntax).bad())
    throw IoError("cannot write a DICOM file made of '" + image.path + "'");
  constexpr std::size_t max_bytes = std::size_t{1} << 33;
  return read_text(temporary.path(), max_bytes);
}

/// Converts the float values of a slice to the sample type of its file.
template <class T>
void store_slice(std::span<const std::byte> values, const DicomSlice& slice,
                 std::span<std::byte> to) {
  for (std::size_t i = 0; i < to.size() / sizeof(T); ++i) {
    float value;
    std::memcpy(&value, &values[i * sizeof(float)], sizeof(float));
    const double stored = std::nearbyint((static_cast<double>(value) - slice.inter) / slice.slope);
    using Limits = std::numeric_limits<T>;
    const T sample = !(stored > static_cast<double>(Limits::min())) ? Limits::min()
                     : stored >= static_cast<double>(Limits::max()) ? Limits::max()
                                                                    : static_cast<T>(stored);
    std::memcpy(&to[i * sizeof(T)], &sample, sizeof(T));
  }
}

/// Clamps samples to the range of Bits Stored.
template <class T>
void clamp_samples(std::span<std::byte> samples, int bits_stored) {
  constexpr int bits = 8 * sizeof(T);
  if (bits_stored >= bits) return;
  constexpr bool is_signed = std::numeric_limits<T>::is_signed;
  const auto maximum = static_cast<T>((std::int64_t{1} << (bits_stored - (is_signed ? 1 : 0))) - 1);
  const T minimum = is_signed ? static_cast<T>(-maximum - 1) : T{0};
  // The mask clears the sign bits above Bits Stored.
  const auto mask = static_cast<T>((std::int64_t{1} << bits_stored) - 1);
  for (std::size_t at = 0; at + sizeof(T) <= samples.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, &samples[at], sizeof(T));
    value = static_cast<T>(std::clamp(value, minimum, maximum) & mask);
    std::memcpy(&samples[at], &value, sizeof(T));
  }
}

/// Calls `use` with a value of the C++ type of the file's samples.
template <class Use>
void with_sample_type(const DicomSampleFormat& format, Use&& use) {
  if (format.bits_allocated == 8)
    return format.is_signed ? use(std::int8_t{}) : use(std::uint8_t{});
  if (format.bits_allocated == 16)
    return format.is_signed ? use(std::int16_t{}) : use(std::uint16_t{});
  return format.is_signed ? use(std::int32_t{}) : use(std::uint32_t{});
}

/// Writes the output: a folder if the name ends in a slash, or else a single file.
class DicomTarget {
 public:
  DicomTarget(const std::string& path, const SinkOptions& options) {
    if (path.ends_with('/'))
      folder_.emplace(path, OutputFolderOptions{.overwrite = options.overwrite,
                                                .access = options.access,
                                                .follow_links = options.follow_links});
    else
      file_.emplace(path, TextFileOptions{.overwrite = options.overwrite,
                                          .access = options.access,
                                          .follow_links = options.follow_links});
  }

  void write(const std::string& source, const std::string& content) {
    if (file_) return file_->write(content);
    const fs::path path = fs::path(folder_->temporary()) / fs::path(source).filename();
    folder_->write(path.string(), std::as_bytes(std::span(content)));
  }
  void commit() {
    if (file_)
      file_->commit();
    else
      folder_->commit();
  }
  const std::string& temporary() const { return file_ ? file_->temporary() : folder_->temporary(); }

 private:
  std::optional<OutputFolder> folder_;
  std::optional<TextFile> file_;
};

class DicomWriter final : public VolumeWriter {
 public:
  DicomWriter(const std::string& path, std::shared_ptr<const DicomVolume> volume,
              const SinkOptions& options)
      : volume_(std::move(volume)), target_(path, options), files_(volume_->images.size()) {}

  void write(std::span<const std::byte> samples) override {
    const DicomSampleFormat& format = volume_->images.front().format;
    const std::size_t slice_bytes = static_cast<std::size_t>(format.rows) * format.columns *
                                    static_cast<std::size_t>(size_of(volume_->samples.type));
    while (!samples.empty()) {
      const std::size_t part = std::min(samples.size(), slice_bytes - slice_.size());
      slice_.insert(slice_.end(), samples.begin(),
                    samples.begin() + static_cast<std::ptrdiff_t>(part));
      samples = samples.subspan(part);
      if (slice_.size() < slice_bytes) return;
      add_slice(volume_->slices.at(next_++));
      slice_.clear();
    }
  }
  void finish_writing() override {
    if (next_ != volume_->slices.size()) throw InternalError("slices of the series are missing");
  }
  void commit() override { target_.commit(); }
  const std::string& temporary() const override { return target_.temporary(); }

 private:
  struct PendingFile {
    std::vector<std::byte> samples;
    int frames = 0;
  };

  void add_slice(const DicomSlice& slice) {
    const DicomImage& image = volume_->images[slice.image];
    PendingFile& file = files_[slice.image];
    const std::size_t bytes = image.format.frame_bytes();
    file.samples.resize(bytes * static_cast<std::size_t>(image.format.frames));
    const auto to =
        std::span(file.samples).subspan(bytes * static_cast<std::size_t>(slice.frame), bytes);
    with_sample_type(image.format, [&]<class T>(T) {
      if (volume_->has_scales)
        store_slice<T>(slice_, slice, to);
      else
        std::ranges::copy(slice_, to.begin());
      clamp_samples<T>(to, image.format.bits_stored);
    });
    if (++file.frames < image.format.frames) return;
    if (series_uid_.empty()) series_uid_ = derived_uid(image.series_uid, file.samples);
    target_.write(image.path, file_with_samples(image, file.samples, series_uid_));
    file = {};
  }

  std::shared_ptr<const DicomVolume> volume_;
  DicomTarget target_;
  std::vector<PendingFile> files_;
  std::vector<std::byte> slice_;
  std::string series_uid_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<VolumeWriter> open_dicom_output(const std::string& path,
                                                const ForeignVolume& volume,
                                                const SinkOptions& options) {
  if (!path.ends_with('/') && volume.dicom->images.size() > 1)
    throw InvalidArgument("'" + path + "' is one file (the series has " +
                          std::to_string(volume.dicom->images.size()) +
                          " files); name a folder: '" + path.substr(0, path.size() - 4) + "/'");
  return std::make_unique<DicomWriter>(path, volume.dicom, options);
}

}  // namespace lull::io
