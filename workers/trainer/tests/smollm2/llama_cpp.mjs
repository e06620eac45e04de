// What llama.cpp makes of the texts: token ids, and the probabilities of the next token. First step of the golden file:
//
//   npm install node-llama-cpp@3.22.1
//   node workers/trainer/tests/smollm2/llama_cpp.mjs SmolLM2-135M-Instruct.Q4_1.gguf >/tmp/llama_cpp.json
//
// llama.cpp multiplies quantised weights with inputs that it rounds to 8 bits, so its numbers are near, not equal.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.cwd()}/`);
const { getLlama, LlamaLogLevel } = await import(pathToFileURL(require.resolve("node-llama-cpp")));
const llama = await getLlama({ gpu: false, build: "never", logLevel: LlamaLogLevel.error, maxThreads: 2 });
const model = await llama.loadModel({ modelPath: process.argv[2] });
const context = await model.createContext({ contextSize: 512, sequences: 8 });
const results = [];
for (const segments of JSON.parse(readFileSync(new URL("texts.json", import.meta.url)))) {
  const text = segments.map(([role, body]) => `<|im_start|>${role}\n${body}<|im_end|>`).join("\n");
  const ids = model.tokenize(text, true);
  const input = [...ids];
  input.push([input.pop(), { generateNext: { probabilities: true } }]);
  const sequence = context.getSequence();
  const evaluated = await sequence.controlledEvaluate(input);
  const { probabilities } = evaluated.at(-1).next;
  results.push({ segments, text, ids: [...ids], probabilities: [...probabilities.entries()].slice(0, 8) });
}
process.stdout.write(JSON.stringify(results));
process.exit(0);
