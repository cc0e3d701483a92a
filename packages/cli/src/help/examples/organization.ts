/** Examples of organizations, plans, the audit log, and this installation. */
export const organization = {
  org: [
    ['skerry org ls', 'List your organizations'],
    ['skerry org export acme.json', 'Write the whole organization to a file'],
  ],
  'org ls': [
    ['skerry org ls', 'List your organizations and your role in each'],
    ['skerry org ls --json', 'Print your organizations as JSON'],
  ],
  'org create': [
    ['skerry org create "Acme"', 'Create an organization that you own'],
    ['skerry org create "Acme Europe" --slug acme-eu', 'Choose the slug of the organization'],
  ],
  'org rename': [
    ['skerry org rename "Acme Ltd"', 'Change the display name'],
    ['skerry org rename "Acme Europe" --org acme-eu', 'Change the display name of another organization'],
  ],
  'org mfa': [
    ['skerry org mfa', 'Show whether members need a second factor'],
    ['skerry org mfa on', 'Require a second factor of all members'],
  ],
  'org export': [
    ['skerry org export acme.json', 'Write the whole organization to a file'],
    ['skerry org export acme.json --no-audit --force', 'Leave out the audit log and replace the file'],
  ],
  'org export verify': [
    ['skerry org export verify acme.json --key "$SIGNING_KEY"', 'Check every byte and the signature'],
    ['skerry org export verify acme.json --unsigned', 'Check an archive of a server without a key'],
  ],
  plan: [
    ['skerry plan ls', 'List the plans and the features that they include'],
    ['skerry plan usage', 'Show how much of the plan is used'],
  ],
  'plan ls': [
    ['skerry plan ls', 'List the plans and the features that they include'],
    ['skerry plan ls --json', 'Print plans and features as JSON'],
  ],
  'plan usage': [
    ['skerry plan usage', 'Show how much of the plan is used'],
    ['skerry plan usage --json', 'Print the usage as JSON'],
  ],
  'plan checkout': [
    ['skerry plan checkout team', 'Print the address where you buy the plan team'],
    ['skerry plan checkout pro --family vault', 'Buy a plan of the vault'],
  ],
  'plan portal': [
    ['skerry plan portal', 'Print the address where you manage payments'],
    ['skerry plan portal --org acme', 'Manage the payments of Acme'],
  ],
  'plan promo': [
    ['skerry plan promo SPRING-2027', 'Redeem a promotion code'],
    ['skerry plan promo SPRING-2027 --org acme', 'Redeem a promotion code for Acme'],
  ],
  'plan cancel': [
    ['skerry plan cancel', 'End all plans after a question'],
    ['skerry plan cancel --yes', 'End all plans without a question'],
  ],
  audit: [
    ['skerry audit ls --since 7d --actor bob@example.com', 'List what a member did in the last week'],
    ['skerry audit verify', 'Prove that nobody changed the log'],
  ],
  'audit ls': [
    ['skerry audit ls --since 7d --actor bob@example.com', 'List what a member did in the last week'],
    ['skerry audit ls --action secret.deleted --limit 0 --json > deleted.jsonl', 'Save all deletions of secrets'],
  ],
  'audit timeline': [
    ['skerry audit timeline', 'Count the entries of each of the last 30 days'],
    ['skerry audit timeline --since 24h --actor ci', 'Count what a token did in each hour'],
  ],
  'audit verify': [
    ['skerry audit verify', 'Prove that nobody changed the log'],
    ['skerry audit verify --archive acme-2025.jsonl', 'Include a file of archived entries'],
  ],
  'audit verify-archive': [
    ['skerry audit verify-archive acme-2025.jsonl --key "$SIGNING_KEY"', 'Check archived entries without a server'],
    ['skerry audit verify-archive acme-2025.jsonl --key "$SIGNING_KEY" --json', 'Print the result as JSON'],
  ],
  'audit checkpoint': [
    ['skerry audit checkpoint > checkpoint.txt', 'Save the signed checkpoint for a colleague'],
    ['skerry audit checkpoint --compare checkpoint.txt', 'Compare with the checkpoint of a colleague'],
  ],
  activity: [
    ['skerry activity', 'Show what happened recently'],
    ['skerry activity --org acme --json', 'Print the recent activity of Acme as JSON'],
  ],
  'log-sink': [
    ['skerry log-sink set https://collector.example.com/v1/logs', 'Send the audit log to a collector'],
    ['skerry log-sink status', 'Show whether entries arrive'],
  ],
  'log-sink status': [
    ['skerry log-sink status', 'Show whether entries arrive'],
    ['skerry log-sink status --json', 'Print the state as JSON'],
  ],
  'log-sink set': [
    [
      'skerry log-sink set https://collector.example.com/v1/logs --headers-file headers.txt',
      'Send the log with an authorization header',
    ],
    ['skerry log-sink set https://collector.example.com/v1/logs --disable', 'Stop sending and keep the settings'],
  ],
  'log-sink test': [
    ['skerry log-sink test', 'Send a sample entry'],
    ['skerry log-sink test --json', 'Print the answer of the collector as JSON'],
  ],
  'log-sink rm': [
    ['skerry log-sink rm', 'Stop sending the log'],
    ['skerry log-sink rm --yes', 'Stop sending the log without a question'],
  ],
  notifications: [
    ['skerry notifications ls', 'List events, and which are mailed to you'],
    ['skerry notifications disable sync_failed', 'Receive no mail about failed pushes'],
  ],
  'notifications ls': [
    ['skerry notifications ls', 'List events, and which are mailed to you'],
    ['skerry notifications ls --json', 'Print your choices as JSON'],
  ],
  'notifications enable': [
    ['skerry notifications enable change_request_opened', 'Receive mail about changes that wait for you'],
    ['skerry notifications enable rotation_failed sync_failed', 'Receive mail about two events'],
  ],
  'notifications disable': [
    ['skerry notifications disable sync_failed', 'Receive no mail about failed pushes'],
    ['skerry notifications disable invitation cli_session_approved', 'Receive no mail about two events'],
  ],
  dashboard: [
    ['skerry dashboard verify https://skerry.example.com', 'Check that a server serves the published dashboard'],
    ['skerry dashboard verify https://skerry.example.com --json', 'Print the result as JSON'],
  ],
  'dashboard verify': [
    ['skerry dashboard verify https://skerry.example.com', 'Check that a server serves the published dashboard'],
    ['skerry dashboard verify https://skerry.example.com --json', 'Print the result as JSON'],
  ],
  completion: [
    ['skerry completion bash > ~/.local/share/bash-completion/completions/skerry', 'Install completion for bash'],
    ['skerry completion fish > ~/.config/fish/completions/skerry.fish', 'Install completion for fish'],
  ],
} as const
