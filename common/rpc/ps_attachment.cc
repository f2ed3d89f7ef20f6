#include "common/rpc/ps_attachment.h"

#include <glog/logging.h>

#include <utility>

#include "common/rpc/grpc_status.h"

namespace paceline {

struct PsAttachment::Call {
  std::shared_ptr<SlotCaller> slot;
  v1::AttachRequest request;
  v1::AttachResponse response;
};

PsAttachment::PsAttachment(const std::shared_ptr<grpc::Channel>& channel,
                           std::string callee)
    : stub_(v1::ParameterServerService::NewStub(channel)),
      callee_(std::move(callee)) {}

PsAttachment::~PsAttachment() {
  Cancel();
  MutexLock lock(mutex_);
  while (is_open_) closed_.WaitFor(mutex_, absl::Seconds(1));
}

std::shared_ptr<SlotCaller> PsAttachment::Get(size_t values_size) {
  std::shared_ptr<grpc::ClientContext> too_small;
  {
    MutexLock lock(mutex_);
    if (is_refused_ || is_cancelled_) return nullptr;
    if (is_open_) {
      if (slot_ == nullptr || !slot_->is_served()) return nullptr;
      if (!std::exchange(is_logged_, true)) {
        LOG(INFO) << "calls to " << callee_ << " go through shared memory";
      }
      if (slot_->values_size() >= values_size) return slot_;
      if (!slot_->Retire()) return nullptr;
      too_small = context_;
    }
    is_open_ = true;
  }
  // Without the lock: gRPC may run callbacks in here.
  if (too_small != nullptr) {
    too_small->TryCancel();
  } else {
    Attach(values_size);
  }
  return nullptr;
}

bool PsAttachment::is_served() {
  MutexLock lock(mutex_);
  return slot_ != nullptr && slot_->is_served() && is_logged_;
}

void PsAttachment::Attach(size_t values_size) {
  const auto call = std::make_shared<Call>();
  const auto context = std::make_shared<grpc::ClientContext>();
  context->set_wait_for_ready(true);
  {
    absl::StatusOr<std::shared_ptr<SlotCaller>> slot =
        SlotCaller::Create(values_size);
    MutexLock lock(mutex_);
    if (!slot.ok()) {
      Refuse(slot.status());
      is_open_ = false;
      closed_.NotifyAll();
      return;
    }
    call->slot = slot_ = *std::move(slot);
    context_ = context;
    if (is_cancelled_) context->TryCancel();
  }
  const RegionReference& memory = call->slot->reference();
  call->request.set_process(memory.process);
  call->request.set_fd(memory.fd);
  call->request.set_device(memory.device);
  call->request.set_inode(memory.inode);
  call->request.set_token(call->slot->token());
  stub_->async()->Attach(context.get(), &call->request, &call->response,
                         [this, call](const grpc::Status& status) {
                           Detach(*call, FromGrpcStatus(status));
                         });
}

void PsAttachment::Refuse(const absl::Status& reason) {
  is_refused_ = true;
  LOG(INFO) << "calls to " << callee_
            << " do not go through shared memory: " << reason.message();
}

void PsAttachment::Detach(Call& call, const absl::Status& status) {
  absl::Status reason = absl::UnavailableError(status.message());
  {
    std::shared_ptr<grpc::ClientContext> context;
    MutexLock lock(mutex_);
    // As in PsClient, it must not be the last to hold the channel.
    context = std::move(context_);
    slot_.reset();
    if (is_cancelled_) reason = absl::CancelledError(status.message());
  }
  call.slot->End(reason);
  MutexLock lock(mutex_);
  if (!call.slot->is_served() && !is_cancelled_ &&
      !absl::IsUnavailable(status)) {
    Refuse(status);
  }
  is_open_ = false;
  closed_.NotifyAll();
}

void PsAttachment::Cancel() {
  std::shared_ptr<grpc::ClientContext> context;
  {
    MutexLock lock(mutex_);
    is_cancelled_ = true;
    context = context_;
  }
  if (context != nullptr) context->TryCancel();
}

}  // namespace paceline
