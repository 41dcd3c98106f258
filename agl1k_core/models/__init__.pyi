"""Runs models on a benchmark: endpoints, the check that they hear, and the journal of answers."""

from .agent import ListeningAgent
from .approaches import Approach, Ask, CannotAskError, OneQuestion
from .beacon import Hearing
from .budgets import matched_budgets, refuse_unmatched
from .controls import Transcript, read_transcripts, tag_texts, transcript_texts
from .dialects import Dialect
from .endpoint import Endpoint, Model
from .events import EventLister, KnownPresences, TaggedEvents
from .hook import LocalModel, load_function
from .hub_files import (
    EVAL_FILE,
    RESULTS_FILE,
    HubTarget,
    eval_file,
    is_repository,
    results_file,
    yaml_text,
)
from .messages import Message, Picture, Sound
from .plans import AgentPlan
from .prompts import Prompt, agent_prompt, default_prompt, read_prompt
from .provenance import (
    LISTENER_COMMAND,
    PROVENANCE,
    bundled,
    provenance_beside,
    provenance_facts,
    provenance_in,
)
from .replies import RawReply, Reply, Usage, read_reply
from .results import RunResult, benchmark_of_run, cost_text, passes_in, write_results
from .runner import Progress
from .session import Listeners, RunLimits, run_model
from .settings import Control, RunSettings, refuse_agent_without_sound
from .sounds import AudioFormat, Treatment, prepare, read_samples
from .spending import Price
from .step_objects import StepObject, step_object
from .steps import answers_after, read_steps, still_asking
from .submission import BoardServer, ModelCard, Submittable, submittable
from .transcribing import Recognizer, Whisper, transcribe_clips
from .weights import WHISPER_WHEELS, install_whisper, whisper_folder

__all__ = [
    "run_model",
    "RunSettings",
    "RunLimits",
    "RunResult",
    "Listeners",
    "Progress",
    "Endpoint",
    "LocalModel",
    "load_function",
    "Model",
    "Prompt",
    "default_prompt",
    "agent_prompt",
    "read_prompt",
    "AgentPlan",
    "ListeningAgent",
    "EventLister",
    "TaggedEvents",
    "KnownPresences",
    "matched_budgets",
    "refuse_unmatched",
    "answers_after",
    "still_asking",
    "read_steps",
    "StepObject",
    "step_object",
    "Treatment",
    "prepare",
    "AudioFormat",
    "Control",
    "refuse_agent_without_sound",
    "tag_texts",
    "transcript_texts",
    "read_transcripts",
    "Transcript",
    "transcribe_clips",
    "Whisper",
    "Recognizer",
    "install_whisper",
    "whisper_folder",
    "WHISPER_WHEELS",
    "read_samples",
    "Price",
    "cost_text",
    "write_results",
    "passes_in",
    "benchmark_of_run",
    "PROVENANCE",
    "LISTENER_COMMAND",
    "provenance_beside",
    "provenance_in",
    "provenance_facts",
    "bundled",
    "submittable",
    "HubTarget",
    "is_repository",
    "yaml_text",
    "eval_file",
    "results_file",
    "EVAL_FILE",
    "RESULTS_FILE",
    "Submittable",
    "BoardServer",
    "ModelCard",
    "Approach",
    "Ask",
    "CannotAskError",
    "OneQuestion",
    "Message",
    "Sound",
    "Picture",
    "Reply",
    "RawReply",
    "Usage",
    "read_reply",
    "Dialect",
    "Hearing",
]
