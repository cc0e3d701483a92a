import { createHash } from 'node:crypto'

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
li { list-style: none; border: 1px solid #8888; border-radius: 8px; padding: 1rem; margin: 1rem 0 }
ul { padding: 0 }
code { overflow-wrap: anywhere }
button { font: inherit; padding: .3rem .9rem; margin-right: .5rem }
input { font: inherit; padding: .3rem }
`

// The page inserts all data of a request as text, so that a path cannot become a part of the page.
const script = `
const byId = (id) => document.getElementById(id)
const headers = () => ({ 'content-type': 'application/json', 'x-skerry-control-token': byId('token').value })
const element = (name, text) => Object.assign(document.createElement(name), { textContent: text })
let shown = ''
async function decide(id, decision) {
  await fetch('/approvals/' + id, { method: 'POST', headers: headers(), body: JSON.stringify({ decision }) })
  await look()
}
function row(held) {
  const item = document.createElement('li')
  const what = document.createElement('p')
  what.append(element('code', held.method + ' ' + held.host + held.path))
  const names = held.secrets.length === 0 ? 'no secret' : held.secrets.join(', ')
  item.append(what, element('p', 'With ' + names + '. It is refused in ' + held.expires_in_seconds + ' s.'))
  for (const [decision, label] of [['approve', 'Approve'], ['deny', 'Deny'], ['always', 'Always approve such requests']]) {
    const button = element('button', label)
    button.addEventListener('click', () => decide(held.id, decision))
    item.append(button)
  }
  return item
}
async function look() {
  const answer = await fetch('/approvals', { headers: headers() }).catch(() => null)
  const body = answer && answer.ok ? await answer.json() : { pending: [] }
  byId('state').textContent = !answer ? 'The proxy does not answer.'
    : answer.status === 401 ? 'Enter the control token.'
    : body.pending.length === 0 ? 'No request waits.' : ''
  const ids = body.pending.map((held) => held.id).join()
  if (ids !== shown) byId('pending').replaceChildren(...body.pending.map(row))
  shown = ids
}
byId('sign-in').addEventListener('submit', (event) => { event.preventDefault(); look() })
setInterval(look, 1000)
look()
`

/** The page on which a person approves requests of an agent. */
export const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Requests that wait - Skerry proxy</title>
<style>${style}</style>
<h1>Requests that wait for approval</h1>
<form id="sign-in"><label>Control token <input id="token" type="password" autocomplete="off"></label> <button>Show</button></form>
<p id="state" role="status"></p>
<ul id="pending"></ul>
<script>${script}</script>
</html>
`

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

export const pageHeaders = {
  'content-security-policy': `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}
