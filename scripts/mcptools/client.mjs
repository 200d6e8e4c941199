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
for (const prompt of prompts) {
  const args = Object.fromEntries((prompt.arguments ?? []).filter((a) => a.required).map((a) => [a.name, "B001GZ6QEC"]));
  await attempt(`prompt ${prompt.name}`, () => client.getPrompt({ name: prompt.name, arguments: args }));
}
await attempt("ping", () => client.ping());
await client.close();
const seen = { tools: tools.length, resources: resources.length, templates: templates.length, prompts: prompts.length };
console.log(JSON.stringify({ ...seen, kinds, refused }));
process.exit(refused.length ? 1 : 0);
