#include "io/dicom/frame_decoder.h"

#include <dcmtk/dcmdata/dcpixseq.h>
#include <dcmtk/dcmdata/dcpxitem.h>
#include <dcmtk/dcmdata/dcxfer.h>

#include <cstdint>
#include <cstring>

#include "core/error.h"
#include "io/dicom/fragments.h"
#include "io/dicom/rle_header.h"

namespace lull::io {
namespace {

/// Sets the bits above Bits Stored. In signed samples, these bits become copies of the sign bit. In
/// unsigned samples, they become 0, because overlays may use these bits.
template <class T>
void extend_samples(std::vector<std::byte>& bytes, int bits_stored, bool is_signed) {
  constexpr int bits = 8 * sizeof(T);
  if (bits_stored == bits) return;
  const T mask = static_cast<T>((T{1} << bits_stored) - 1);
  const T sign = static_cast<T>(T{1} << (bits_stored - 1));
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, &bytes[at], sizeof(T));
    value &= mask;
    if (is_signed && (value & sign)) value = static_cast<T>(value | static_cast<T>(~mask));
    std::memcpy(&bytes[at], &value, sizeof(T));
  }
}

}  // namespace

FrameDecoder::FrameDecoder(const DicomImage& image) : image_(image) {
  if (file_.loadFile(image.path.c_str(), EXS_Unknown, EGL_noChange, DCM_MaxReadLength, ERM_fileOnly)
          .bad())
    fail("is a damaged DICOM file");
  DcmElement* element = nullptr;
  if (file_.getDataset()->findAndGetElement(DcmTagKey(0x7fe0, 0x0010), element).good())
    pixels_ = dynamic_cast<DcmPixelData*>(element);
  if (!pixels_) fail("has no samples that lull can read");
  const DcmXfer syntax(file_.getDataset()->getOriginalXfer());
  const DicomSampleFormat& format = image.format;
  const double bytes = static_cast<double>(format.frame_bytes()) * format.frames;
  if (!syntax.isEncapsulated() && static_cast<double>(pixels_->getLength()) < bytes)
    fail("has fewer samples than its header states");
  if (syntax.isBigEndian() && format.bits_allocated == 32)
    fail("has big-endian samples of 32 bits; convert it first");
}

void FrameDecoder::decode(int frame, std::vector<std::byte>& samples) {
  const DicomSampleFormat& format = image_.format;
  const E_TransferSyntax syntax = file_.getDataset()->getOriginalXfer();
  if (syntax == EXS_JPEG2000LosslessOnly || syntax == EXS_JPEG2000)
    decode_jpeg2000(frame, syntax, samples);
  else
    decode_with_dcmtk(frame, samples);
  if (format.bits_allocated == 8)
    extend_samples<std::uint8_t>(samples, format.bits_stored, format.is_signed);
  else if (format.bits_allocated == 16)
    extend_samples<std::uint16_t>(samples, format.bits_stored, format.is_signed);
  else
    extend_samples<std::uint32_t>(samples, format.bits_stored, format.is_signed);
}

void FrameDecoder::fail(const std::string& what) const {
  throw BadData("'" + image_.path + "' " + what);
}

void FrameDecoder::decode_with_dcmtk(int frame, std::vector<std::byte>& samples) {
  const std::size_t bytes = image_.format.frame_bytes();
  Uint32 expected = 0, fragment = 0;
  OFString colours;
  samples.assign(bytes + bytes % 2, std::byte{0});
  check_rle(frame);
  DcmDataset* set = file_.getDataset();
  if (pixels_->getUncompressedFrameSize(set, expected).bad() || expected > samples.size() ||
      expected < bytes)
    fail("has samples that contradict its header");
  if (pixels_
          ->getUncompressedFrame(set, static_cast<Uint32>(frame), fragment, samples.data(),
                                 static_cast<Uint32>(samples.size()), colours)
          .bad())
    fail(std::string("has samples that cannot be decoded (") +
         DcmXfer(set->getOriginalXfer()).getXferName() + "); convert it, or decompress it first");
  samples.resize(bytes);
}

void FrameDecoder::decode_jpeg2000(int frame, E_TransferSyntax syntax,
                                   std::vector<std::byte>& samples) {
  DcmPixelSequence* fragments = nullptr;
  std::optional<std::vector<std::uint8_t>> codestream;
  if (pixels_->getEncapsulatedRepresentation(syntax, nullptr, fragments).good() && fragments)
    codestream = bytes_of_frame(*fragments, image_.format.frames, frame);
  if (!codestream) fail("has damaged fragments (JPEG 2000)");
  if (!jpeg2000_) jpeg2000_.emplace(image_.format, image_.path);
  samples = jpeg2000_->decode(*codestream);
}

/// Throws an error if the offsets of an RLE frame are wrong. DCMTK does not check the offsets.
void FrameDecoder::check_rle(int frame) {
  const E_TransferSyntax syntax = file_.getDataset()->getOriginalXfer();
  if (syntax != EXS_RLELossless) return;
  DcmPixelSequence* fragments = nullptr;
  DcmPixelItem* fragment = nullptr;
  Uint8* bytes = nullptr;
  // The first item is the offset table. Each further item is the fragment of one frame (PS3.5,
  // A.4.2).
  const bool is_found =
      pixels_->getEncapsulatedRepresentation(syntax, nullptr, fragments).good() && fragments &&
      fragments->card() == static_cast<unsigned long>(image_.format.frames) + 1 &&
      fragments->getItem(fragment, static_cast<unsigned long>(frame) + 1).good() && fragment &&
      fragment->getUint8Array(bytes).good() && bytes;
  if (!is_found || !has_rle_segments({bytes, fragment->getLength()},
                                     static_cast<std::size_t>(image_.format.bits_allocated) / 8))
    fail("has damaged samples (RLE Lossless)");
}

}  // namespace lull::io
