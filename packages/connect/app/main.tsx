import { render } from 'preact'
import './connect.css'
import { executors } from './executor.ts'
import { createFlow, type Screen } from './flow.ts'
import { type Fragment, readFragment } from './link.ts'
import { Page } from './page.tsx'
import { openServer } from './server.ts'
import { tabStorage } from './tab-storage.ts'

/** Removes the token from the address bar and the history before anything else happens. */
function takeFragment(): Fragment {
  const { hash, pathname } = location
  history.replaceState(null, '', pathname)
  return readFragment(hash)
}

let fragment = takeFragment()

const root = document.getElementById('root') as HTMLElement
const show = (screen: Screen) => render(<Page screen={screen} flow={flow} retry={open} />, root)
const go = (url: string) => location.assign(url)
const { origin } = location
const flow = createFlow({ server: openServer(origin), executors, tabStorage, origin, show, go })
const open = () => void flow.open(fragment)

// Without HTTPS, a browser offers no cryptography to a page.
if (isSecureContext) open()
else show({ at: 'end', end: 'insecure', returnUrl: null, product: null })

// If another link is opened in this tab, the browser does not load the page again.
addEventListener('hashchange', () => {
  if (!isSecureContext || location.hash === '') return
  fragment = takeFragment()
  open()
})
