#include "ps_server/ps_service.h"

#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/rpc/message_bytes.h"
#include "paceline/v1/ps.grpc.pb.h"
#include "ps_server/mailbox_server.h"

namespace paceline {
namespace {

using Done = std::function<void(const absl::Status&)>;

// Not Unavailable, which callers take to mean that the server is unreachable
// for the moment, so that they would retry.
absl::Status FailedToAttach(const absl::Status& reason) {
  return absl::FailedPreconditionError(reason.message());
}

}  // namespace

PsService::PsService(Shard& shard)
    : RpcService(v1::ParameterServerService::service_full_name()),
      shard_(shard),
      memory_(std::make_shared<BlockMemoryPool>()) {
  AddControl();
  AddData();
}

PsService::~PsService() {
  MutexLock lock(mutex_);
  while (thread_count_ > 0) thread_ended_.WaitFor(mutex_, absl::Seconds(1));
}

template <typename Request, typename Response, typename Handle>
void PsService::AddLong(absl::string_view method, size_t max_request_bytes,
                        Handle handle) {
  AddMessages<Request, Response>(
      method, max_request_bytes,
      [this, handle](const Request& request, Response& response,
                     const Done& done) {
        const absl::Status started =
            RunApart([handle, &request, &response, done] {
              done(handle(request, response));
            });
        if (!started.ok()) done(started);
      });
}

void PsService::AddControl() {
  AddLong<v1::InitializeRequest, v1::InitializeResponse>(
      "Initialize", limits::kMaxJobMessageBytes,
      [this](const auto& request, auto& response) {
        return shard_.Initialize(request, response);
      });
  AddLong<v1::SnapshotRequest, v1::SnapshotResponse>(
      "Snapshot", limits::kMaxControlBytes,
      [this](const auto& request, auto& response) {
        return shard_.Snapshot(request, response);
      });
  AddLong<v1::ChangeVariablesRequest, v1::ChangeVariablesResponse>(
      "ChangeVariables", limits::kMaxControlBytes,
      [this](const auto& request, auto& response) {
        return shard_.ChangeVariables(request, response);
      });
  AddLong<v1::ReadCheckpointRequest, v1::ReadCheckpointResponse>(
      "ReadCheckpoint", limits::kMaxControlBytes,
      [this](const auto& request, auto& response) {
        return shard_.ReadCheckpoint(request, response);
      });
  AddLong<v1::DiscardCheckpointRequest, v1::DiscardCheckpointResponse>(
      "DiscardCheckpoint", limits::kMaxControlBytes,
      [this](const auto& request, auto& response) {
        return shard_.DiscardCheckpoint(request, response);
      });
  AddMessages<v1::AdmitRequest, v1::AdmitResponse>(
      "Admit", limits::kMaxControlBytes,
      [this](const auto& request, auto& response, const Done& done) {
        done(shard_.Admit(request, response));
      });
  AddMessages<v1::FenceRequest, v1::FenceResponse>(
      "Fence", limits::kMaxControlBytes,
      [this](const auto& request, auto& response, const Done& done) {
        done(shard_.Fence(request, response));
      });
  AddMessages<v1::WriteCheckpointRequest, v1::WriteCheckpointResponse>(
      "WriteCheckpoint", limits::kMaxControlBytes,
      [this](const auto& request, auto& response, Done done) {
        shard_.WriteCheckpoint(request,
                               [&response, done = std::move(done)](
                                   const Checkpointer::Result& result) {
                                 if (result.ok())
                                   *response.mutable_file() = ToProto(*result);
                                 done(result.status());
                               });
      });
}

void PsService::AddData() {
  Add("Push",
      {[this](ServerCall& call) { Push(call); }, limits::kMaxMessageBytes});
  // An Apply request has no blocks, so the small limit is enough.
  Add("Apply",
      {[this](ServerCall& call) { AnswerWithVariables(call, &Shard::Apply); },
       limits::kMaxControlBytes});
  Add("Pull",
      {[this](ServerCall& call) { AnswerWithVariables(call, &Shard::Pull); },
       limits::kMaxControlBytes});
  Add("Attach",
      {[this](ServerCall& call) { Attach(call); }, limits::kMaxControlBytes});
}

void PsService::Push(ServerCall& call) {
  if (call.request().Length() > max_data_bytes_) {
    return call.Finish(
        TooLarge(call.request().Length(), max_data_bytes_.load()));
  }
  const auto push = std::make_shared<PushMessages>(memory_);
  const absl::Status read = ReadPush(
      call.request(),
      [this](const v1::PushRequest& each) {
        return shard_.BlockSizesFor(each);
      },
      *push);
  // Free the request's memory now: while the push is held, the call stays open.
  call.request().Clear();
  if (!read.ok()) return call.Finish(read);
  shard_.Push(push->request, push->gradients, push->response,
              absl::MakeSpan(push->variables),
              [push, &call](const absl::Status& status) {
                if (!status.ok()) return call.Finish(status);
                call.Finish(WriteResponse(push));
              });
}

template <typename Request, typename Response>
void PsService::AnswerWithVariables(
    ServerCall& call, absl::Status (Shard::*method)(const Request&, Response&,
                                                    absl::Span<DenseBuffer>)) {
  const auto messages =
      std::make_shared<BlockMessages<Request, Response>>(memory_);
  absl::Status status = ReadMessage(call.request(), messages->request);
  if (!status.ok()) return call.Finish(status);
  const absl::StatusOr<absl::Span<const size_t>> sizes =
      shard_.BlockSizesFor(messages->request);
  if (!sizes.ok()) return call.Finish(sizes.status());
  messages->MakeBuffers(*sizes);
  status = (shard_.*method)(messages->request, messages->response,
                            absl::MakeSpan(messages->variables));
  if (!status.ok()) return call.Finish(status);
  call.Finish(WriteResponse(messages));
}

void PsService::Attach(ServerCall& call) {
  v1::AttachRequest request;
  const absl::Status read = ReadMessage(call.request(), request);
  if (!read.ok()) return call.Finish(read);
  const RegionReference memory = {request.process(), request.fd(),
                                  request.device(), request.inode()};
  absl::StatusOr<CallMailbox> mailbox =
      CallMailbox::Open(memory, request.token());
  if (!mailbox.ok()) return call.Finish(FailedToAttach(mailbox.status()));
  auto server = std::make_shared<MailboxServer>(*std::move(mailbox), shard_);
  call.OnCancelled([server] { server->Close(); });
  const absl::Status started = RunApart([server, &call]() mutable {
    server->Run();
    server.reset();
    call.Finish(absl::CancelledError("the caller has given up"));
  });
  if (!started.ok()) call.Finish(FailedToAttach(started));
}

absl::Status PsService::RunApart(std::function<void()> work) {
  MutexLock lock(mutex_);
  try {
    std::thread([this, work = std::move(work)] {
      work();
      MutexLock lock(mutex_);
      --thread_count_;
      thread_ended_.NotifyAll();
    }).detach();
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot start a thread: ", error.what()));
  }
  ++thread_count_;
  return absl::OkStatus();
}

}  // namespace paceline
