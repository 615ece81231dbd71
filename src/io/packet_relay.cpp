#include "io/packet_relay.h"

namespace lull::io {

void PacketRelay::attach() {
  const std::lock_guard lock(mutex_);
  attached_ = true;
}

void PacketRelay::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  packets_.clear();
}

void PacketRelay::close_unless_attached() {
  const std::lock_guard lock(mutex_);
  if (attached_) return;
  closed_ = true;
  packets_.clear();
}

void PacketRelay::put(PacketPtr packet) {
  const std::lock_guard lock(mutex_);
  if (!closed_) packets_.push_back(std::move(packet));
}

void PacketRelay::drop_if(const std::function<bool(const AVPacket&)>& unwanted) {
  const std::lock_guard lock(mutex_);
  std::erase_if(packets_, [&](const PacketPtr& packet) { return unwanted(*packet); });
}

bool PacketRelay::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

std::deque<PacketPtr> PacketRelay::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(packets_, {});
}

}  // namespace lull::io
