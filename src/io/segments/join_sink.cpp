#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <vector>

#include "io/jobs.h"
#include "io/segments/job_facts.h"
#include "io/segments/job_text.h"
#include "io/segments/manifest.h"
#include "io/segments/segment_mux.h"
#include "io/segments/shared_job.h"
#include "io/text_file.h"
#include "io/write/encoding_sink.h"

namespace lull::io {
namespace {

/// Returns the properties of a job that affect the samples of frames: all properties that do not
/// describe files or encoders.
std::vector<JobFact> facts_of_frames(const JobPlan& plan) {
  const auto first = std::ranges::find(plan.facts, "--segment-frames", &JobFact::name);
  const auto last = std::ranges::find(plan.facts, "the input", &JobFact::name);
  return first < last ? std::vector<JobFact>(first + 1, last) : std::vector<JobFact>();
}

bool have_equal_bytes(const std::string& a, const std::string& b) {
  std::ifstream first(a, std::ios::binary), second(b, std::ios::binary);
  std::vector<char> one(1 << 20), two(1 << 20);
  while (first && second) {
    first.read(one.data(), std::ssize(one));
    second.read(two.data(), std::ssize(two));
    if (first.gcount() != second.gcount() ||
        !std::equal(one.begin(), one.begin() + first.gcount(), two.begin()))
      return false;
  }
  return first.eof() && second.eof();
}

/// Joins the segments in the folder of a job. The caller writes no frames to this sink.
class JoinSink final : public EncodingSink {
 public:
  JoinSink(const std::string& path, FileSource& source, const SinkOptions& options)
      : EncodingSink(path, source, options),
        plan_(*options.segments->plan),
        folder_(options.segments->folder),
        source_(source),
        output_(resolve_links(path)) {
    SinkOptions given = options;
    given.threads = plan_.threads;
    given.segments->facts = facts_of_frames(plan_);
    source.replay_all();
    may_replace_ = options.overwrite;
    access_ = options.access;
    open(output_file(path), choose_encoders(container_, source, given), source, given);
    check_facts(plan_, source, container_, given, *encoder_);
  }

  std::vector<FrameRange> needed_frames() const override { return {}; }
  void write(Frame) override {
    throw InternalError("a frame was written to a job that is being joined");
  }

 private:
  /// Opens the output file. If this fails, checks again whether the output exists, because another
  /// process may have created it in the meantime.
  std::unique_ptr<OutputFile> output_file(const std::string& path) {
    const auto is_there = [&] {
      std::error_code ignored;
      return std::filesystem::exists(output_, ignored);
    };
    output_exists_ = !may_replace_ && is_there();
    try {
      return new_file(path, may_replace_ || output_exists_);
    } catch (const CannotCreate&) {
      if (may_replace_ || output_exists_ || !is_there()) throw;
    }
    output_exists_ = true;
    return new_file(path, true);
  }

  std::unique_ptr<OutputFile> new_file(const std::string& path, bool overwrite) const {
    return std::make_unique<OutputFile>(
        path, OutputFileOptions{.overwrite = overwrite, .access = access_});
  }

  void write_end() override {
    // SegmentReader verifies the digest of a segment during the join, so that lull reads each
    // segment only once.
    const std::string id = plan_.id();
    const auto read = [&](std::int64_t segment) {
      const std::string path = segment_path(folder_, segment);
      const std::optional<SegmentRecord> record = read_unverified_record(path, id);
      if (!record)
        throw TryAgain("segment " + std::to_string(segment) +
                       " is damaged or missing; make it again");
      return SegmentReader(path, *record);
    };
    mux_segments({plan_.segments(), read}, source_, encoder_->context().time_base, *muxer_);
  }

  // Completes the output. An existing output with the same bytes is no error: another process may
  // have joined the segments, or an earlier run may have ended after it renamed the output.
  void commit() override {
    file_->finish_writing();
    if (output_exists_) {
      if (!have_equal_bytes(file_->temporary(), output_))
        throw CannotCreate("'" + output_ + "' exists (and is not the output of the job in '" +
                           folder_ + "'); give -y to overwrite it");
      return note_result(output_);
    }
    note_result(file_->temporary());
    try {
      file_->commit();
    } catch (const CannotCreate&) {
      if (!have_equal_bytes(file_->temporary(), output_)) throw;
      note_result(output_);
    }
  }

  void note_result(const std::string& file) const {
    const Manifest result{.facts = {}, .threads = 0, .segments = {}, .result = identity_of(file)};
    write_text(folder_ + "/result", to_text(result),
               {.overwrite = true, .access = access_, .follow_links = false});
  }

  const JobPlan& plan_;
  std::string folder_;
  FileSource& source_;
  std::string output_;
  Access access_;
  bool may_replace_ = false, output_exists_ = false;
};

}  // namespace

std::unique_ptr<MediaSink> open_join_sink(const std::string& path, FileSource& source,
                                          const SinkOptions& options) {
  return std::make_unique<JoinSink>(path, source, options);
}

}  // namespace lull::io
