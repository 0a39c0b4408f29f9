// Starts `redfox lsp` for files of LogiQL, and again after redfox.path changes.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const command = vscode.workspace.getConfiguration("redfox").get("path");
  client = new LanguageClient(
    "redfox",
    "redfox",
    { command, args: ["lsp"] },
    { documentSelector: [{ language: "logiql" }, { pattern: "**/*.project" }] },
  );
  try {
    await client.start();
  } catch (failure) {
    client = undefined;
    vscode.window.showErrorMessage(
      `${command} lsp does not start: ${failure.message}. Set redfox.path to the redfox command.`,
    );
  }
}

async function stop() {
  const old = client;
  client = undefined;
  await old?.stop();
}

async function restart() {
  await stop();
  await start();
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("redfox.restart", restart),
    vscode.workspace.onDidChangeConfiguration((e) => {
      if (e.affectsConfiguration("redfox.path")) return restart();
    }),
  );
  await start();
};

exports.deactivate = stop;
