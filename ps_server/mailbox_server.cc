#include "ps_server/mailbox_server.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/base/simd.h"
#include "common/base/status_macros.h"

namespace paceline {

void MailboxServer::Run() {
  FlushDenormals();
  mailbox_.BeginToServe();
  FutexEvent& event = mailbox_.event(CallMailbox::kRequest);
  while (!is_closed_) {
    const uint32_t signals = event.signals();
    const uint32_t posted = mailbox_.posted(CallMailbox::kRequest);
    if (!is_open_ && posted != number_) {
      number_ = posted;
      is_open_ = true;
      Handle();
    } else {
      event.Wait(signals, absl::InfiniteFuture(), absl::ZeroDuration());
    }
  }
}

void MailboxServer::Close() {
  is_closed_ = true;
  mailbox_.event(CallMailbox::kRequest).Signal();
}

void MailboxServer::Handle() {
  buffers_.clear();
  const absl::Status read = mailbox_.Read(CallMailbox::kRequest, call_);
  if (!read.ok()) return Answer(read, push_response_);
  switch (static_cast<MailboxMethod>(call_.code)) {
    case MailboxMethod::kPush:
      return Push();
    case MailboxMethod::kApply:
      return AnswerWithVariables(apply_request_, apply_response_,
                                 &Shard::Apply);
    case MailboxMethod::kPull:
      return AnswerWithVariables(pull_request_, pull_response_, &Shard::Pull);
  }
  Answer(absl::UnimplementedError(absl::StrCat("there is no call ", call_.code,
                                               " through shared memory")),
         push_response_);
}

void MailboxServer::Push() {
  push_response_.Clear();
  absl::Status status;
  if (!push_request_.ParseFromString(call_.content)) {
    status = absl::InvalidArgumentError("the push cannot be read");
  } else if (push_request_.pull()) {
    status = MakeBuffers(shard_.BlockSizesFor(push_request_));
  }
  if (!status.ok()) return Answer(status, push_response_);
  shard_.Push(push_request_, call_.blocks, push_response_,
              absl::MakeSpan(buffers_),
              [self = shared_from_this()](const absl::Status& pushed) {
                self->Answer(pushed, self->push_response_);
              });
}

template <typename Request, typename Response>
void MailboxServer::AnswerWithVariables(
    Request& request, Response& response,
    absl::Status (Shard::*method)(const Request&, Response&,
                                  absl::Span<DenseBuffer>)) {
  response.Clear();
  absl::Status status = absl::InvalidArgumentError("the call cannot be read");
  if (request.ParseFromString(call_.content)) {
    status = MakeBuffers(shard_.BlockSizesFor(request));
  }
  if (status.ok()) {
    status = (shard_.*method)(request, response, absl::MakeSpan(buffers_));
  }
  Answer(status, response);
}

absl::Status MailboxServer::MakeBuffers(
    const absl::StatusOr<absl::Span<const size_t>>& sizes) {
  RETURN_IF_ERROR(sizes.status());
  const absl::Span<std::byte> values = mailbox_.values();
  size_t end = 0;
  for (const size_t size : *sizes) {
    const size_t begin = CallMailbox::NextBlock(end);
    end = begin + size;
    if (end > values.size()) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no room for the variables in ", values.size(),
                       " bytes of shared memory"));
    }
    buffers_.push_back({values.subspan(begin, size)});
  }
  return absl::OkStatus();
}

void MailboxServer::Answer(const absl::Status& status,
                           const google::protobuf::MessageLite& response) {
  blocks_.clear();
  content_.clear();
  auto code = static_cast<uint32_t>(status.code());
  if (status.ok()) {
    response.SerializeToString(&content_);
    for (size_t block = 0; block < buffers_.size(); ++block) {
      const DenseBuffer& buffer = buffers_[block];
      if (!buffer.is_filled) continue;
      blocks_.push_back({static_cast<uint32_t>(block), buffer.dtype,
                         buffer.version, buffer.values});
    }
  } else {
    content_ = std::string(status.message());
  }
  if (!mailbox_.Write(CallMailbox::kAnswer, code, content_, blocks_)) {
    code = static_cast<uint32_t>(absl::StatusCode::kResourceExhausted);
    mailbox_.Write(CallMailbox::kAnswer, code, "no room for the answer", {});
  }
  // Read it before the answer: afterwards the next call may change it.
  const uint32_t number = number_;
  is_open_ = false;
  mailbox_.Post(CallMailbox::kAnswer, number);
}

}  // namespace paceline
