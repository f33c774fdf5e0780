"""Makes a model that knows nothing, so that none must be fetched: TEXT_FILE FOLDER.

Random weights, and a tokenizer trained on the text. It is as large as it is because a prompt must
take it seconds to read, on one thread.
"""

from __future__ import annotations

import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

VOCABULARY = 2000
HIDDEN, LAYERS, HEADS = 512, 8, 8
"""27 million parameters; 64 to a head, which is the least that vLLM can do on a CPU."""
CONTEXT_TOKENS = 8192

TEMPLATE = (
    "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)


def tokenizer(text_file: str) -> PreTrainedTokenizerFast:
    """Byte pairs of that text."""
    pairs = Tokenizer(models.BPE())
    pairs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pairs.decoder = decoders.ByteLevel()
    bytes_at_least = pre_tokenizers.ByteLevel.alphabet()
    special = ["<s>", "</s>"]
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=special, initial_alphabet=bytes_at_least
    )
    pairs.train([text_file], trainer)
    marks = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "</s>"}
    return PreTrainedTokenizerFast(tokenizer_object=pairs, chat_template=TEMPLATE, **marks)


def model(words: int) -> LlamaForCausalLM:
    """The same weights each time."""
    torch.manual_seed(1)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=words,
            hidden_size=HIDDEN,
            intermediate_size=3 * HIDDEN,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            num_key_value_heads=HEADS,
            max_position_embeddings=CONTEXT_TOKENS,
            bos_token_id=0,
            eos_token_id=1,
        )
    )


if __name__ == "__main__":
    text, folder = sys.argv[1:]
    words = tokenizer(text)
    words.save_pretrained(folder)
    model(len(words)).save_pretrained(folder)
