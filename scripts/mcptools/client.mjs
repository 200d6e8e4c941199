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

function filled(schema) {
  const one = (type) => ({ string: "kettle", integer: 1, number: 1, boolean: false, array: [], object: {} })[type];
  const names = schema.required ?? [];
  return Object.fromEntries(names.map((name) => [name, one(schema.properties[name].type ?? "string")]));
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
const kinds = {};
for (const tool of tools) {
  const args = given.calls[tool.name] ?? filled(tool.inputSchema);
  const result = await attempt(`call ${tool.name}`, () => client.callTool({ name: tool.name, arguments: args }));
  if (result) kinds[tool.name] = result.isError ? result.structuredContent.error.kind : "ok";
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
const readable = templates.filter((t) => t.name !== "task-result"); // a task is needed first: tests/protocol has it
for (const template of readable) {
  await attempt(`template ${template.name}`, () => client.readResource({ uri: `keepa://${instances[template.name]}` }));
}
for (const prompt of prompts) {
  const args = Object.fromEntries((prompt.arguments ?? []).filter((a) => a.required).map((a) => [a.name, "B001GZ6QEC"]));
  await attempt(`prompt ${prompt.name}`, () => client.getPrompt({ name: prompt.name, arguments: args }));
}
await attempt("ping", () => client.ping());
await client.close();
const seen = { tools: tools.length, resources: resources.length, templates: templates.length, prompts: prompts.length };
console.log(JSON.stringify({ ...seen, kinds, refused }));
process.exit(refused.length ? 1 : 0);
