#include "worker/lifecycle/variable_orders.h"

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/variables_order.h"
#include "common/limits.h"
#include "glog/logging.h"
#include "worker/lifecycle/load_replica.h"

namespace paceline {

absl::Status VariableOrders::AwaitReplicas() {
  if (replicas_.size() > 1) {
    member_.SetWaitingFor("the first variables of the other replicas");
  }
  RETURN_IF_ERROR(gate_.Await(limits::kCheckpointTimeout / 2));
  if (replicas_.size() > 1) member_.SetWaitingFor("");
  return absl::OkStatus();
}

absl::StatusOr<std::function<void()>> VariableOrders::TakeSnapshot(
    const std::string& name) {
  RETURN_IF_ERROR(AwaitReplicas());
  return checkpoints_->Take(name);
}

absl::Status VariableOrders::Change(const v1::VariablesOrder& order) {
  RETURN_IF_ERROR(AwaitReplicas());
  return order.kind() == v1::VariablesOrder::KIND_LOAD ? Load(order)
                                                       : SwapAverages(order);
}

absl::Status VariableOrders::SwapAverages(const v1::VariablesOrder& order) {
  for (const std::unique_ptr<Replica>& replica : replicas_) {
    if (replica->variables == nullptr) continue;
    RETURN_IF_ERROR(CheckHasAverages(order, replica->optimizer->use_ema));
    RETURN_IF_ERROR(replica->variables->SwapAverages(*replica->stream));
  }
  LOG(INFO) << "swapped the variables with their averages";
  return absl::OkStatus();
}

absl::Status VariableOrders::Load(const v1::VariablesOrder& order) {
  const v1::RegisterResponse& registration = member_.registration();
  const bool reads = registration.rank() == 0;
  const std::string path =
      absl::StrCat(registration.checkpoint_folder(), "/", order.checkpoint());
  for (const std::unique_ptr<Replica>& replica : replicas_) {
    if (replica->variables == nullptr) continue;
    member_.SetWaitingFor(
        peers_ == nullptr || reads ? "" : "the variables of the first worker");
    RETURN_IF_ERROR(LoadReplica(
        path, reads, peers_, replica->model.graph.variables,
        replica->plan.layout(), *replica->variables, *replica->stream));
  }
  member_.SetWaitingFor("");
  return absl::OkStatus();
}

}  // namespace paceline
