// The official TypeScript client looks at everything a server has: argv is {"sdk": folder, "url": ...} or
// {"sdk": folder, "command": ..., "args": [...], "env": {...}}. Prints what it saw as JSON; exit code 1 for a refusal.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const given = JSON.parse(process.argv[2]);
const load = (file) => import(pathToFileURL(join(given.sdk, "dist", "esm", "client", file)).href);
const { Client } = await load("index.js");

async function transport() {
  if (given.url) {
    const { StreamableHTTPClientTransport } = await load("streamableHttp.js");
    return new StreamableHTTPClientTransport(new URL(given.url));
  }
  const { StdioClientTransport } = await load("stdio.js");
  return new StdioClientTransport({ command: given.command, args: given.args, env: given.env, stderr: "ignore" });
}

async function all(list, key) {
  const found = [];
  let cursor;
  do {
    const page = await list(cursor ? { cursor } : {});
    found.push(...page[key]);
    cursor = page.nextCursor;
  } while (cursor);
  return found;
}

const refused = [];
async function attempt(what, work) {
  try {
    return await work();
  } catch (error) {
    refused.push(`${what}: ${String(error.message ?? error).slice(0, 200)}`);
    return undefined;
  }
}

const client = new Client({ name: "keepa-check", version: "1" });
await client.connect(await transport());
const tools = await all((p) => client.listTools(p), "tools");
const resources = await all((p) => client.listResources(p), "resources");
const templates = await all((p) => client.listResourceTemplates(p), "resourceTemplates");
const prompts = await all((p) => client.listPrompts(p), "prompts");
let answers = 0, refusals = 0, readable = 0, gotten = 0, tasks = 0;
for (const { name } of tools) {
  const call = (args) => attempt(`call ${name}`, () => client.callTool({ name, arguments: args }));
  const [good, bad] = [await call(given.calls[name]), await call({ no_such: 1 })];
  if (good?.structuredContent.ok) answers += 1;
  else refused.push(`${name}: ${good?.structuredContent.error.message}`);
  if (bad?.isError && ["invalid_arguments", "inactive_tool"].includes(bad.structuredContent.error.kind)) refusals += 1;
}
for (const resource of resources) {
  await attempt(`read ${resource.uri}`, () => client.readResource({ uri: resource.uri }));
}
const encoded = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
const answer = async (name, args) => (await client.callTool({ name, arguments: args })).structuredContent;
const asked = { asin: given.recorded };
const product = await answer("products_get", { ...asked, view: "research", chunks_dir: "chunks" });
const source = { resource_uri: `keepa://research/${product.cache_key}` };
const [graph, brief] = [await answer("research_graph_merge", source), await answer("research_brief_export", source)];
const file = encoded(product.data?.chunks?.[0]?.path ?? "");
const read = async (uri) => JSON.parse((await client.readResource({ uri })).contents[0].text);
const [row] = (await read("keepa://evidence/recent")).evidence;
const [fixture] = (await read(`keepa://asin/${given.recorded}/fixture`)).candidates;
const plan = encoded({ name: "product-research", asin: [given.recorded] });
const instances = {
  schema: "schema/products-agent-view", fixture: `fixtures/${fixture.name}`, cassette: `cassettes/${fixture.name}`,
  "cache-key": `cache-key/products.get/${encoded(asked)}`, "workflow-policy": `workflow/${plan}/policy`,
  research: `research/${product.cache_key}`, "research-brief": `research/${brief.cache_key}/brief`,
  "research-graph": `research/${graph.cache_key}/graph`, "research-figures": `research/${product.cache_key}/figures`,
  "research-figure-set": `research/${product.cache_key}/figures/history`, graphs: "graphs/kettles",
  toolset: "toolsets/research", tool: "tools/products_get", prompt: "prompts/product_research",
  "asin-fixture": `asin/${given.recorded}/fixture`, evidence: `evidence/${encoded(row.logical_path)}`,
  "wiki-page": "wiki/page/quickstart", chunk: `chunk/${file}`, output: `output/${file}`,
};
const run = client.experimental.tasks.callToolStream({ name: given.task, arguments: given.calls[given.task] }, undefined, {
  task: { ttl: 60000 },
});
for await (const message of run) {
  if (message.type === "taskCreated") instances["task-result"] = `tasks/${message.task.taskId}/result`;
  if (message.type === "result" && message.result.structuredContent.ok) tasks += 1;
  if (message.type === "error") refused.push(`task ${given.task}: ${message.error.message}`);
}
const listed = (await client.experimental.tasks.listTasks()).tasks;
if (listed.length !== 1 || listed[0].status !== "completed") refused.push(`tasks: ${JSON.stringify(listed)}`);
for (const { name } of templates) {
  const uri = `keepa://${instances[name]}`;
  const found = await attempt(`template ${name}`, () => client.readResource({ uri }));
  if (found?.contents[0].uri === uri) readable += 1;
}
for (const prompt of prompts) {
  const args = Object.fromEntries((prompt.arguments ?? []).filter((a) => a.required).map((a) => [a.name, "B001GZ6QEC"]));
  const found = await attempt(`prompt ${prompt.name}`, () => client.getPrompt({ name: prompt.name, arguments: args }));
  if (found?.messages.length) gotten += 1;
}
await attempt("ping", () => client.ping());
await client.close();
const seen = { tools: tools.length, resources: resources.length, templates: templates.length, prompts: prompts.length };
console.log(JSON.stringify({ ...seen, answers, refusals, readable, gotten, tasks, refused }));
process.exit(refused.length ? 1 : 0);
