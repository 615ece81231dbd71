#include "io/metadata/prepare.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "io/metadata/byte_order.h"
#include "io/metadata/exif.h"
#include "io/metadata/formats.h"
#include "io/metadata/orientation.h"

namespace lull::io {
namespace {

class Preparation {
 public:
  Preparation(PictureMetadata metadata, const PictureTarget& target) : target_(target) {
    result_.metadata = std::move(metadata);
  }

  PreparedMetadata run() {
    prepare_pictures();
    drop_native();
    if (!holds_metadata()) {
      drop_all();
    } else {
      orient();
      check_profile();
      prepare_photoshop();
      prepare_xmp();
      prepare_exif();
      check_texts();
    }
    return std::move(result_);
  }

 private:
  PictureMetadata& metadata() { return result_.metadata; }

  void lose(const std::string& what, std::string_view why) {
    result_.losses.push_back(what + " (" + std::string(why) + ")");
  }
  void lose(const std::string& what) {
    lose(what, target_.name + " cannot hold " + (what.ends_with("s") ? "them" : "it"));
  }

  /// Clears `data`, and reports the loss of `what` if `data` was not empty.
  void drop(ByteVector& data, const std::string& what) {
    if (!data.empty()) lose(what);
    data.clear();
  }

  /// Removes the additional pictures of a JPEG file, because lull does not denoise them. The
  /// function keeps a gain map if the output is a JPEG file of the input's size.
  void prepare_pictures() {
    const bool is_jpeg = target_.kind == PictureKind::jpeg;
    const bool fits = is_jpeg && !target_.is_scaled;
    std::size_t others = 0;
    std::erase_if(metadata().pictures, [&](const AdditionalPicture& picture) {
      if (picture.is_gain_map && fits) return false;
      drops_gain_map_ |= picture.is_gain_map;
      others += picture.is_gain_map ? 0 : 1;
      return true;
    });
    if (drops_gain_map_ && is_jpeg) lose("the gain map", "the output has another size");
    if (drops_gain_map_ && !is_jpeg) lose("the gain map");
    if (others > 0)
      lose(std::to_string(others) + (others == 1 ? " further picture" : " further pictures") +
               " of the file",
           "only the main picture is denoised");
    if (!drops_gain_map_) return;
    std::erase_if(metadata().native, [](const NativeBlock& block) {
      return begins_with(block.data, "urn:iso:std:iso:ts:21496:-1");  // describes the gain map
    });
  }

  void drop_native() {
    std::string unknown;
    std::set<std::string> named;
    std::erase_if(metadata().native, [&](const NativeBlock& block) {
      if (block.holder == target_.kind && block.holder != PictureKind::other) return false;
      if (named.insert(block.name).second) unknown += (unknown.empty() ? "" : ", ") + block.name;
      return true;
    });
    if (!unknown.empty())
      lose(unknown, "only the unchanged file, or another file of its kind, can hold such data");
  }

  void drop_all() {
    drop(metadata().exif, "EXIF metadata");
    drop(metadata().xmp, "XMP metadata");
    drop(metadata().photoshop, "IPTC metadata");
    drop(metadata().icc, "the ICC profile");
    if (metadata().gamma || metadata().chromaticities) lose("gamma and primaries of the samples");
    // If the output loses a resolution of 72 samples per inch, the function reports no loss,
    // because programs write 72 for an unknown resolution.
    if (metadata().resolution && *metadata().resolution != Resolution{72, 72})
      lose("the resolution");
    drop_texts();
    if (!target_.is_video) orient();
    PictureMetadata rest;
    rest.orientation = metadata().orientation;
    rest.native = std::move(metadata().native);
    result_.metadata = std::move(rest);
  }

  void drop_texts() {
    std::string names;
    for (const PictureText& text : std::exchange(metadata().texts, {}))
      names += (names.empty() ? "" : ", ") + text.keyword;
    if (!names.empty()) lose("the text of " + names);
  }

  /// Returns whether the format can contain all kinds of metadata. DPX and PictureKind::other can
  /// contain only data of their own format.
  bool holds_metadata() const {
    return target_.kind != PictureKind::other && target_.kind != PictureKind::dpx;
  }
  bool holds_orientation() const {
    return target_.kind == PictureKind::tiff || (holds_metadata() && has_exiv2());
  }

  void orient() {
    if (metadata().orientation == 1 || holds_orientation()) return;
    if (target_.can_rotate)
      result_.rotation = metadata().orientation;
    else
      lose("the orientation");
    metadata().orientation = 1;
  }

  // Removes an ICC profile whose colour space does not match the channels of the output. Bytes 16
  // to 19 of a profile state its colour space (ICC.1:2022, 7.2).
  void check_profile() {
    const ByteVector& icc = metadata().icc;
    if (icc.size() < 20) return metadata().icc.clear();
    const std::string_view channels = text_view(ByteView(icc).subspan(16, 4));
    const bool is_grey = target_.to == Layout::gray, was_grey = target_.from == Layout::gray;
    if (channels == "CMYK" || (channels == "GRAY" && !is_grey) ||
        (channels == "RGB " && is_grey && !was_grey)) {
      lose("the ICC profile", "it describes other channels than the output has");
      metadata().icc.clear();
    }
  }

  void prepare_photoshop() {
    ByteVector& photoshop = metadata().photoshop;
    const std::size_t old_size = photoshop.size();
    photoshop = without_thumbnails(photoshop);
    if (photoshop.size() < old_size) note_thumbnail();
    if (target_.kind == PictureKind::webp) drop(photoshop, "IPTC metadata");
  }

  void note_thumbnail() {
    const std::string note =
        "the embedded thumbnail is removed (it shows the picture before "
        "denoising)";
    if (std::ranges::find(result_.notes, note) == result_.notes.end())
      result_.notes.push_back(note);
  }

  std::pair<int, int> final_size() const {
    const bool swapped = swaps_sides(result_.rotation);
    return swapped ? std::pair(target_.height, target_.width)
                   : std::pair(target_.width, target_.height);
  }

  void prepare_xmp() {
    ByteVector& xmp = metadata().xmp;
    if (xmp.empty()) return;
    const auto [width, height] = final_size();
    xmp = change_xmp(xmp, {metadata().orientation, width, height, drops_gain_map_});
    if (target_.kind == PictureKind::jpeg && xmp.size() > max_jpeg_xmp) {
      lose("XMP metadata", "a JPEG file holds at most 64 KB of it; use .png or .tif");
      xmp.clear();
    }
  }

  void prepare_exif() {
    ByteVector& exif = metadata().exif;
    if (!has_exiv2()) {
      if (!exif.empty()) lose("EXIF metadata", "this build of lull has no Exiv2");
      exif.clear();
      return prepare_without_exif();
    }
    const ExifFacts facts = read_exif(exif);
    if (!exif.empty() && !facts.is_valid) {
      lose("EXIF metadata", "they are damaged");
      exif.clear();
    }
    if (facts.has_thumbnail) note_thumbnail();
    ExifChanges changes = changes_of_exif();
    const bool was_empty = exif.empty();
    exif = change_exif(exif, changes);
    if (!was_empty && exif.empty())
      lose("EXIF metadata",
           changes.is_too_long ? "they are longer than 64 KB" : "they are damaged");
    if (target_.kind != PictureKind::png) metadata().texts = std::move(changes.texts);
    if (target_.is_big_tiff && !exif.empty()) {
      lose("EXIF metadata", "BigTIFF, for pictures of more than 3.5 GB, holds none");
      exif.clear();
    }
    if (target_.kind != PictureKind::jpeg || exif.size() <= max_jpeg_exif) return;
    lose("EXIF metadata", "a JPEG file holds at most 64 KB of them; use .png or .tif");
    exif.clear();
  }

  ExifChanges changes_of_exif() {
    const auto [width, height] = final_size();
    ExifChanges changes{.orientation = metadata().orientation, .width = width, .height = height};
    if (target_.kind == PictureKind::png) return changes;  // PNG has chunks for all other metadata
    changes.gamma = metadata().gamma;
    changes.is_srgb = metadata().srgb_intent.has_value();
    changes.texts = std::move(metadata().texts);
    // Texts, resolution and primaries need EXIF fields only if the format has no other place for
    // them. JPEG stores texts in comments. TIFF stores the resolution and the primaries in tags.
    changes.uses_comment = target_.kind != PictureKind::jpeg;
    if (target_.kind != PictureKind::tiff) changes.chromaticities = metadata().chromaticities;
    if (target_.kind == PictureKind::webp) changes.resolution = metadata().resolution;
    return changes;
  }

  void prepare_without_exif() {
    if (target_.kind == PictureKind::png) return;
    const bool is_tiff = target_.kind == PictureKind::tiff;
    if (metadata().gamma || (metadata().chromaticities && !is_tiff))
      lose("gamma and primaries of the samples", "this build of lull has no Exiv2");
    if (metadata().resolution && target_.kind != PictureKind::jpeg && !is_tiff)
      lose("the resolution", "this build of lull has no Exiv2");
  }

  /// Prepares the texts that EXIF fields do not store. A PNG file stores them unchanged. A JPEG
  /// file stores each text in a comment, so the function puts the keyword before the text. Other
  /// formats lose the texts.
  void check_texts() {
    if (target_.kind == PictureKind::png) return;
    if (target_.kind != PictureKind::jpeg) return drop_texts();
    for (PictureText& text : metadata().texts)
      if (text.keyword != "Comment") text.text = text.keyword + ": " + text.text;
  }

  const PictureTarget& target_;
  bool drops_gain_map_ = false;
  PreparedMetadata result_;
};

}  // namespace

PreparedMetadata prepare_metadata(PictureMetadata metadata, const PictureTarget& target) {
  return Preparation(std::move(metadata), target).run();
}

}  // namespace lull::io
