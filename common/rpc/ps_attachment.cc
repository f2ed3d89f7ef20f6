#include "common/rpc/ps_attachment.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/rpc/message_bytes.h"
#include "paceline/v1/ps.grpc.pb.h"

namespace paceline {
namespace {

v1::AttachRequest RequestOf(const MailboxCaller& mailbox) {
  const RegionReference& memory = mailbox.reference();
  v1::AttachRequest request;
  request.set_process(memory.process);
  request.set_fd(memory.fd);
  request.set_device(memory.device);
  request.set_inode(memory.inode);
  request.set_token(mailbox.token());
  return request;
}

}  // namespace

PsAttachment::PsAttachment(CallChannel& channel, std::string callee)
    : channel_(channel), callee_(std::move(callee)) {}

PsAttachment::~PsAttachment() {
  Cancel();
  MutexLock lock(mutex_);
  while (is_open_) closed_.WaitFor(mutex_, absl::Seconds(1));
}

std::shared_ptr<MailboxCaller> PsAttachment::Get(size_t values_size) {
  bool is_too_small = false;
  {
    MutexLock lock(mutex_);
    if (is_refused_ || is_cancelled_) return nullptr;
    if (is_open_) {
      if (mailbox_ == nullptr || !mailbox_->is_served()) return nullptr;
      if (!std::exchange(is_logged_, true)) {
        LOG(INFO) << "calls to " << callee_ << " go through shared memory";
      }
      if (mailbox_->values_size() >= values_size) return mailbox_;
      if (!mailbox_->Retire()) return nullptr;
      mailbox_.reset();
      is_too_small = true;
    }
    is_open_ = true;
  }
  if (is_too_small) {
    EndCall();
  } else {
    Attach(values_size);
  }
  return nullptr;
}

bool PsAttachment::is_served() {
  MutexLock lock(mutex_);
  return mailbox_ != nullptr && mailbox_->is_served() && is_logged_;
}

void PsAttachment::Attach(size_t values_size) {
  std::shared_ptr<MailboxCaller> mailbox;
  {
    absl::StatusOr<std::shared_ptr<MailboxCaller>> made =
        MailboxCaller::Create(values_size);
    MutexLock lock(mutex_);
    if (!made.ok()) {
      Refuse(made.status());
      is_open_ = false;
      closed_.NotifyAll();
      return;
    }
    mailbox = mailbox_ = *std::move(made);
    is_ending_ = is_cancelled_;
  }
  // Without the lock, since gRPC may run callbacks in this call.
  const uint64_t call = channel_.Start(
      absl::StrCat("/", v1::ParameterServerService::service_full_name(),
                   "/Attach"),
      WriteMessage(RequestOf(*mailbox)), {},
      [this, mailbox](const absl::Status& status, grpc::ByteBuffer&) {
        Detach(mailbox, status);
      });
  bool is_ending = false;
  {
    MutexLock lock(mutex_);
    // A later call may have started meanwhile.
    call_ = std::max(call_, call);
    is_ending = is_ending_;
  }
  if (is_ending) channel_.Cancel(call);
}

void PsAttachment::Refuse(const absl::Status& reason) {
  is_refused_ = true;
  LOG(INFO) << "calls to " << callee_
            << " do not go through shared memory: " << reason.message();
}

void PsAttachment::Detach(const std::shared_ptr<MailboxCaller>& mailbox,
                          const absl::Status& status) {
  absl::Status reason = absl::UnavailableError(status.message());
  {
    MutexLock lock(mutex_);
    mailbox_.reset();
    if (is_cancelled_) reason = absl::CancelledError(status.message());
  }
  mailbox->End(reason);
  MutexLock lock(mutex_);
  if (!mailbox->is_served() && !is_cancelled_ && !absl::IsUnavailable(status)) {
    Refuse(status);
  }
  is_open_ = false;
  closed_.NotifyAll();
}

void PsAttachment::EndCall() {
  uint64_t call = 0;
  {
    MutexLock lock(mutex_);
    is_ending_ = true;
    call = call_;
  }
  channel_.Cancel(call);
}

void PsAttachment::Cancel() {
  {
    MutexLock lock(mutex_);
    is_cancelled_ = true;
  }
  EndCall();
}

}  // namespace paceline
