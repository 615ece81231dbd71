#include "io/segments/segment_job.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "io/segments/job_text.h"
#include "io/text_file.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view lock_name = "lock", manifest_name = "manifest";

std::string folder_of(const std::string& output) { return output + ".lull-job"; }

std::string counted(std::int64_t number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string manifest_path(const std::string& folder) {
  return folder + "/" + std::string(manifest_name);
}

/// Returns a message with the number of finished segments of the job in `folder`.
std::string state_of(const std::string& folder, const std::optional<Manifest>& manifest) {
  return "'" + folder + "' holds " +
         counted(static_cast<std::int64_t>(manifest ? manifest->segments.size() : 0), "segment") +
         " of an interrupted job";
}

/// Throws an error if a run must not continue or replace the job in `folder`.
/// @param text      content of the manifest
/// @param manifest  the parsed manifest; nullopt if the manifest is missing or damaged
void refuse_job(const std::string& folder, const std::string& text,
                const std::optional<Manifest>& manifest, const SegmentOptions& options) {
  if (format_number(text, "job") > manifest_format)
    throw BadData("'" + manifest_path(folder) + "' cannot be read as the record of a job (" +
                  why_unreadable(text, "job", manifest_format) +
                  "); use that version, or give -y to start again");
  if (manifest && !manifest->segments.empty() && !options.resume)
    throw CannotCreate(state_of(folder, manifest) +
                       "; give --resume to continue it, or -y to start again");
}

}  // namespace

std::vector<JobFact> facts_of_interrupted_job(const std::string& path) {
  const std::string folder = folder_of(resolve_links(path));
  const auto manifest = parse_manifest(read_job_text(manifest_path(folder)));
  return manifest ? manifest->facts : std::vector<JobFact>{};
}

SegmentJob::SegmentJob(const std::string& output, const SegmentOptions& options, bool overwrite,
                       int threads, const Access& access)
    : output_(resolve_links(output)),
      folder_(folder_of(output_)),
      manifest_path_(manifest_path(folder_)),
      options_(options),
      access_(access) {
  // At the end of its job, a process removes the job folder with the lock file. If this happens
  // while lock() runs in another process, lock() returns false, and the other process must call
  // lock() again.
  while (!lock()) continue;
  try {
    load(overwrite);
  } catch (...) {
    ::close(lock_);
    throw;
  }
  if (!resumed_) manifest_.threads = threads;
}

bool SegmentJob::exists(const std::string& output) {
  std::error_code ignored;
  return fs::exists(folder_of(resolve_links(output)), ignored);
}

void SegmentJob::check(const std::string& output, const SegmentOptions& options, bool overwrite) {
  if (overwrite) return;
  const std::string path = resolve_links(output), folder = folder_of(path);
  const std::string text = read_job_text(manifest_path(folder));
  const std::optional<Manifest> manifest = parse_manifest(text);
  refuse_job(folder, text, manifest, options);
  const bool is_result =
      options.resume && manifest && manifest->result && identity_of(path) == manifest->result;
  if (!is_result) check_free(path, false);
}

SegmentJob::~SegmentJob() {
  if (!removed_ && manifest_.segments.empty()) remove();
  if (lock_ >= 0) ::close(lock_);
}

bool SegmentJob::lock() {
  const std::string name = folder_ + "/" + std::string(lock_name);
  const auto fail = [&] {
    throw CannotCreate("cannot create '" + folder_ + "' (" + std::strerror(errno) + ")");
  };
  if (::mkdir(folder_.c_str(), 0777) < 0 && errno != EEXIST) fail();
  sync_folder_of(folder_);
  lock_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (lock_ < 0) {
    const int error = errno;
    // ENOENT usually means that another process has just removed the folder. lock() then returns
    // false, and the caller tries again. If the folder is a symbolic link without a target, another
    // attempt would fail as well.
    if (error == ENOENT && !is_link(folder_)) return false;
    errno = error;
    fail();
  }
  if (::flock(lock_, LOCK_EX | LOCK_NB) < 0) {
    const bool taken = errno == EWOULDBLOCK;
    if (!taken) errno = ENOLCK;
    ::close(lock_);
    if (!taken) fail();
    throw TryAgain("another process is at the job in '" + folder_ +
                   "' (only one process can work on it); wait for its end");
  }
  struct stat mine, named;
  if (::fstat(lock_, &mine) == 0 && ::stat(name.c_str(), &named) == 0 &&
      mine.st_ino == named.st_ino)
    return true;
  ::close(lock_);
  return false;
}

void SegmentJob::load(bool overwrite) {
  const std::string text = read_job_text(manifest_path_);
  const std::optional<Manifest> found = parse_manifest(text);
  const auto segments = static_cast<std::int64_t>(found ? found->segments.size() : 0);
  if (!overwrite) refuse_job(folder_, text, found, options_);
  if (!found && !text.empty())
    notes_.push_back("'" + manifest_path_ + "' is damaged; the job starts again");
  if (options_.resume && segments > 0) {
    manifest_ = *found;
    resumed_ = true;
    return remove_files([&](const std::string& name) { return is_leftover(name); });
  }
  if (segments > 0)
    notes_.push_back(state_of(folder_, found) + ", which is dropped (-y without --resume)");
  std::error_code ignored;
  // The function removes the manifest first, because segment files are invalid without a manifest.
  fs::remove(manifest_path_, ignored);
  remove_files([&](const std::string& name) { return is_leftover(name) || is_segment_name(name); });
}

void SegmentJob::begin(std::vector<JobFact> facts) {
  id_ = job_id(facts, manifest_.threads);
  if (!resumed_) {
    manifest_.facts = std::move(facts);
    return save();
  }
  if (const std::string what = difference(manifest_.facts, facts); !what.empty())
    throw InvalidArgument("--resume of another job (" + what + "); use the options with which '" +
                          folder_ + "' was started, or give -y without --resume to start again");
  verify();
}

// Removes incomplete and damaged segments from the manifest, so that this run encodes them again.
void SegmentJob::verify() {
  std::string damaged;
  for (auto at = manifest_.segments.begin(); at != manifest_.segments.end();) {
    const auto& [number, record] = *at;
    if (record.frames <= options_.frames && is_whole(segment_path(folder_, number), record)) {
      ++at;
    } else {
      damaged += (damaged.empty() ? "" : ", ") + std::to_string(number);
      at = manifest_.segments.erase(at);
    }
  }
  if (!damaged.empty()) notes_.push_back("segments made again (damaged or missing): " + damaged);
  std::set<std::string> whole;
  for (const auto& [number, record] : manifest_.segments)
    whole.insert(segment_path(folder_, number));
  remove_files([&](const std::string& name) {
    return is_segment_name(name) && !whole.contains(folder_ + "/" + name);
  });
  save();
  notes_.push_back("continuing after " +
                   counted(static_cast<std::int64_t>(manifest_.segments.size()), "segment") + ", " +
                   counted(frames(), "frame"));
}

const SegmentRecord* SegmentJob::find(std::int64_t segment) const {
  const auto found = manifest_.segments.find(segment);
  return found == manifest_.segments.end() ? nullptr : &found->second;
}

std::int64_t SegmentJob::segments() const {
  return manifest_.segments.empty() ? 0 : manifest_.segments.rbegin()->first + 1;
}

std::int64_t SegmentJob::frames() const {
  std::int64_t frames = 0;
  for (const auto& [number, record] : manifest_.segments) frames += record.frames;
  return frames;
}

std::vector<FrameRange> SegmentJob::missing() const {
  std::vector<FrameRange> ranges;
  std::int64_t next = 0;  // first frame that is not covered yet
  for (const auto& [number, record] : manifest_.segments) {
    const std::int64_t first = number * options_.frames;
    if (first > next) ranges.push_back({next, first - 1});
    next = first + record.frames;
    if (record.frames < options_.frames) return ranges;
  }
  ranges.push_back({.first = next});
  return ranges;
}

std::unique_ptr<SegmentWriter> SegmentJob::write(std::int64_t segment) const {
  return std::make_unique<SegmentWriter>(segment_path(folder_, segment), id_, access_);
}

void SegmentJob::add(std::int64_t segment, const SegmentRecord& record) {
  manifest_.segments[segment] = record;
  save();
}

SegmentReader SegmentJob::read(std::int64_t segment) const {
  return {segment_path(folder_, segment), manifest_.segments.at(segment)};
}

void SegmentJob::save() {
  write_text(
      manifest_path_, to_text(manifest_),
      {.overwrite = true, .access = access_, .follow_links = false, .removes_leftovers = false});
}

void SegmentJob::note_result(const std::string& file) {
  manifest_.result = identity_of(file);
  save();
}

bool SegmentJob::is_result(const std::string& file) const {
  return manifest_.result && identity_of(file) == manifest_.result;
}

bool SegmentJob::is_leftover(const std::string& name) const {
  return (name.starts_with(".") && name.ends_with(".tmp")) || is_partial_name(name, output_);
}

void SegmentJob::remove_files(const std::function<bool(const std::string& name)>& useless) const {
  std::error_code ignored;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder_, ignored)) files.push_back(entry.path());
  for (const fs::path& file : files)
    if (useless(file.filename().string())) fs::remove(file, ignored);
}

void SegmentJob::remove() {
  removed_ = true;
  std::error_code ignored;
  fs::remove(manifest_path_, ignored);
  remove_files([&](const std::string& name) { return is_leftover(name) || is_segment_name(name); });
  fs::remove(folder_ + "/" + std::string(lock_name), ignored);
  fs::remove(folder_, ignored);  // fails if the folder contains other files
}

}  // namespace lull::io
