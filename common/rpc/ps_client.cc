#include "common/rpc/ps_client.h"

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "common/cluster/blame.h"
#include "common/cluster/task.h"
#include "common/limits.h"
#include "common/rpc/block_codec.h"
#include "common/rpc/call_channel.h"
#include "common/rpc/call_error.h"
#include "common/rpc/mailbox_caller.h"
#include "common/rpc/message_bytes.h"
#include "common/rpc/ps_attachment.h"
#include "paceline/v1/ps.grpc.pb.h"

namespace paceline {

namespace {

// How long to wait, after the end of all calls, until gRPC has released memory.
constexpr absl::Duration kReleaseTimeout = absl::Seconds(5);

// Receives blocks into their buffers.
class BufferedBlocks final : public BlockReceiver {
 public:
  explicit BufferedBlocks(absl::Span<DenseBuffer> buffers)
      : buffers_(buffers) {}

  absl::Status Expect(size_t block_count) override {
    if (block_count <= buffers_.size()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "it has ", block_count, " blocks, expected at most ", buffers_.size()));
  }

  v1::Block* Begin() override {
    block_.Clear();
    return &block_;
  }

  absl::StatusOr<absl::Span<std::byte>> BufferFor(const v1::Block& block,
                                                  size_t size) override {
    ASSIGN_OR_RETURN(DenseBuffer* const buffer,
                     FindBuffer(block.index(), size, buffers_));
    buffer->is_filled = true;
    return buffer->values;
  }

  absl::Status End(const v1::Block& block) override {
    if (block.index() < buffers_.size()) {
      buffers_[block.index()].version = block.version();
      buffers_[block.index()].dtype = block.dtype();
    }
    return absl::OkStatus();
  }

 private:
  const absl::Span<DenseBuffer> buffers_;
  v1::Block block_;
};

}  // namespace

struct PsClient::Impl {
  Impl(TaskId server_in, const std::string& address_in,
       std::shared_ptr<const Caller> caller, PsClientOptions options)
      : server(server_in),
        address(address_in),
        description(TaskName(server, address)),
        channel(address, std::move(caller)),
        fail_fast(options.fail_fast) {
    if (!options.use_shared_memory) return;
    for (int i = 0; i < limits::kCallsPerServer; ++i) {
      attachments.push_back(
          std::make_unique<PsAttachment>(channel, description));
    }
  }

  static std::string MethodOf(const char* name) {
    return absl::StrCat("/", v1::ParameterServerService::service_full_name(),
                        "/", name);
  }

  absl::Status Blamed(absl::string_view waited_for, absl::Status error) const {
    return WithBlame(std::move(error),
                     {server, address, std::string(waited_for)});
  }
  // Converts the status of a call: adds the task and its address, and blames
  // it.
  absl::Status Ended(const char* call, const absl::Status& status,
                     absl::Duration timeout) const {
    if (status.ok()) return status;
    return Blamed(call, CallError(status, call, description, timeout));
  }

  template <typename Request, typename Response>
  void Start(const char* name, const Request& request, Response* response,
             absl::Duration timeout, CallDone done) {
    // Initialize is the first call, and its long timeout is for slow disks, not
    // for connecting.
    const bool is_first = std::is_same_v<Request, v1::InitializeRequest>;
    channel.Start(MethodOf(name), WriteMessage(request),
                  {timeout, fail_fast || is_first},
                  [this, name, response, timeout, done = std::move(done)](
                      absl::Status status, grpc::ByteBuffer& bytes) {
                    if (status.ok()) status = ReadMessage(bytes, *response);
                    done(Ended(name, status, timeout));
                  });
  }

  // A call whose messages have blocks.
  struct BlockCall {
    const char* name = nullptr;
    MailboxMethod method = MailboxMethod::kPull;
    const google::protobuf::MessageLite* request = nullptr;
    int gradients_field = 0;
    absl::Span<const DenseValues> gradients;
    google::protobuf::MessageLite* response = nullptr;
    int variables_field = 0;
    absl::Span<DenseBuffer> variables;
  };
  // A call without gradients.
  template <typename Response>
  static BlockCall CallOf(const char* name, MailboxMethod method,
                          const google::protobuf::MessageLite& request,
                          Response* response,
                          absl::Span<DenseBuffer> variables) {
    BlockCall call;
    call.name = name;
    call.method = method;
    call.request = &request;
    call.response = response;
    call.variables_field = Response::kVariablesFieldNumber;
    call.variables = variables;
    return call;
  }
  void Start(const BlockCall& call, absl::Duration timeout, CallDone done) {
    for (DenseBuffer& buffer : call.variables) buffer.is_filled = false;
    call.response->Clear();
    if (StartInMailbox(call, timeout, done)) return;
    StartOnChannel(call, timeout, std::move(done));
  }

  // Bytes of values in a mailbox: the maximum of request and answer.
  static size_t ValuesSize(const BlockCall& call) {
    size_t gradients = 0;
    for (const DenseValues& block : call.gradients) {
      gradients = CallMailbox::NextBlock(gradients) + block.values.size();
    }
    size_t variables = 0;
    for (const DenseBuffer& buffer : call.variables) {
      variables = CallMailbox::NextBlock(variables) + buffer.values.size();
    }
    return std::max(gradients, variables);
  }

  // Starts the call through shared memory if possible. If it returns false,
  // nothing has happened.
  bool StartInMailbox(const BlockCall& call, absl::Duration timeout,
                      const CallDone& done) {
    if (attachments.empty()) return false;
    MailboxCall started;
    started.method = call.method;
    started.request = call.request;
    started.gradients = call.gradients;
    started.response = call.response;
    started.variables = call.variables;
    started.deadline = MonotonicNow() + timeout;
    started.done = [this, call, timeout, done,
                    deadline = started.deadline](const absl::Status& status) {
      if (absl::IsResourceExhausted(status)) {
        // The answer was too large for the mailbox. Any of these calls may be
        // repeated, so use gRPC.
        StartOnChannel(call, deadline - MonotonicNow(), done);
      } else {
        done(Ended(call.name, status, timeout));
      }
    };
    // Use further mailboxes only while the first ones are busy; most clients
    // need only one.
    for (const std::unique_ptr<PsAttachment>& attachment : attachments) {
      const std::shared_ptr<MailboxCaller> mailbox =
          attachment->Get(ValuesSize(call));
      if (mailbox == nullptr) return false;
      if (mailbox->Start(started)) return true;
    }
    return false;
  }

  void StartOnChannel(const BlockCall& call, absl::Duration timeout,
                      CallDone done) {
    channel.Start(MethodOf(call.name),
                  WriteBlocks(*call.request, call.gradients_field,
                              call.gradients, gradients_in_use),
                  {timeout, fail_fast},
                  [this, call, timeout, done = std::move(done)](
                      absl::Status status, grpc::ByteBuffer& bytes) {
                    if (status.ok()) status = Read(call, bytes);
                    status = Ended(call.name, status, timeout);
                    // Release the memory now, so that gRPC reuses it for the
                    // next answer while it is in the cache.
                    bytes.Clear();
                    done(std::move(status));
                  });
  }

  static absl::Status Read(const BlockCall& call, grpc::ByteBuffer& buffer) {
    BufferedBlocks blocks(call.variables);
    const absl::Status status =
        ReadBlocks(buffer, call.variables_field, *call.response, blocks);
    return status.ok() ? status : absl::InternalError(status.message());
  }

  void Cancel() {
    // Cancel attachments first; otherwise they would take the end of their
    // Attach calls for the loss of the server.
    for (const auto& attachment : attachments) attachment->Cancel();
    channel.CancelAll();
  }

  const TaskId server;
  const std::string address;
  const std::string description;
  CallChannel channel;
  const bool fail_fast;
  // Each slice of gradients in gRPC's buffers holds a copy of this pointer.
  const std::shared_ptr<const void> gradients_in_use = std::make_shared<char>();
  // Each attachment serves one call at a time.
  std::vector<std::unique_ptr<PsAttachment>> attachments;
};

PsClient::PsClient(int index, const std::string& address,
                   std::shared_ptr<const Caller> caller,
                   PsClientOptions options)
    : impl_(std::make_unique<Impl>(TaskId{TaskType::kPs, index}, address,
                                   std::move(caller), options)) {}

PsClient::~PsClient() {
  const std::string server = description();
  const std::weak_ptr<const void> in_use = impl_->gradients_in_use;
  impl_.reset();
  const absl::Time deadline = MonotonicNow() + kReleaseTimeout;
  while (!in_use.expired() && MonotonicNow() < deadline) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  LOG_IF(ERROR, !in_use.expired())
      << "gRPC still holds gradients for " << server;
}

bool PsClient::shares_memory() const {
  return !impl_->attachments.empty() && impl_->attachments.front()->is_served();
}

void PsClient::Cancel() { impl_->Cancel(); }

const std::string& PsClient::description() const { return impl_->description; }

absl::Status PsClient::Blamed(absl::string_view waited_for,
                              absl::Status error) const {
  return impl_->Blamed(waited_for, std::move(error));
}

#define PACELINE_PS_CALL(Name)                                              \
  void PsClient::Name(const v1::Name##Request& request,                     \
                      v1::Name##Response* response, absl::Duration timeout, \
                      CallDone done) {                                      \
    impl_->Start(#Name, request, response, timeout, std::move(done));       \
  }
PACELINE_PS_CALL(Initialize)
PACELINE_PS_CALL(Admit)
PACELINE_PS_CALL(Fence)
PACELINE_PS_CALL(Snapshot)
PACELINE_PS_CALL(WriteCheckpoint)
PACELINE_PS_CALL(ChangeVariables)
PACELINE_PS_CALL(ReadCheckpoint)
PACELINE_PS_CALL(DiscardCheckpoint)
#undef PACELINE_PS_CALL

void PsClient::Push(const v1::PushRequest& request,
                    absl::Span<const DenseValues> gradients,
                    v1::PushResponse* response,
                    absl::Span<DenseBuffer> variables, absl::Duration timeout,
                    CallDone done) {
  Impl::BlockCall call =
      Impl::CallOf("Push", MailboxMethod::kPush, request, response, variables);
  call.gradients_field = v1::PushRequest::kGradientsFieldNumber;
  call.gradients = gradients;
  impl_->Start(call, timeout, std::move(done));
}

void PsClient::Apply(const v1::ApplyRequest& request,
                     v1::ApplyResponse* response,
                     absl::Span<DenseBuffer> variables, absl::Duration timeout,
                     CallDone done) {
  impl_->Start(Impl::CallOf("Apply", MailboxMethod::kApply, request, response,
                            variables),
               timeout, std::move(done));
}

void PsClient::Pull(const v1::PullRequest& request, v1::PullResponse* response,
                    absl::Span<DenseBuffer> variables, absl::Duration timeout,
                    CallDone done) {
  impl_->Start(
      Impl::CallOf("Pull", MailboxMethod::kPull, request, response, variables),
      timeout, std::move(done));
}

}  // namespace paceline
