#include "common/cluster/blame.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "common/base/peer_status.h"
#include "common/base/peer_text.h"
#include "common/cluster/task_proto.h"

namespace paceline {
namespace {

constexpr char kPayload[] = "type.googleapis.com/paceline.v1.Blame";

v1::Blame BlameToProto(const Blame& blame) {
  v1::Blame proto;
  *proto.mutable_task() = TaskToProto(blame.task);
  proto.set_address(blame.address);
  proto.set_waited_for(blame.waited_for);
  return proto;
}

std::optional<Blame> BlameFromProto(const v1::Blame& proto) {
  const absl::StatusOr<TaskId> task = TaskFromProto(proto.task());
  if (!task.ok()) return std::nullopt;
  return Blame{*task, proto.address(), proto.waited_for()};
}

}  // namespace

absl::Status WithBlame(absl::Status error, const Blame& blame) {
  error.SetPayload(kPayload,
                   absl::Cord(BlameToProto(blame).SerializeAsString()));
  return error;
}

absl::Status WithoutBlame(absl::Status error) {
  error.ErasePayload(kPayload);
  return error;
}

std::optional<Blame> BlameOf(const absl::Status& error) {
  const absl::optional<absl::Cord> payload = error.GetPayload(kPayload);
  v1::Blame proto;
  if (!payload || !proto.ParseFromString(std::string(*payload))) {
    return std::nullopt;
  }
  return BlameFromProto(proto);
}

v1::Error ErrorToProto(const absl::Status& error) {
  v1::Error proto;
  proto.set_code(static_cast<int>(error.code()));
  proto.set_message(std::string(error.message()));
  const std::optional<Blame> blame = BlameOf(error);
  if (blame) *proto.mutable_blame() = BlameToProto(*blame);
  return proto;
}

absl::Status ErrorFromProto(const v1::Error& error) {
  absl::Status status = MakePeerStatus(error.code(), error.message());
  std::optional<Blame> blame = BlameFromProto(error.blame());
  if (!blame) return status;
  blame->address = PeerText(blame->address);
  blame->waited_for = PeerText(blame->waited_for);
  return WithBlame(std::move(status), *blame);
}

}  // namespace paceline
