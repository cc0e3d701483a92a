import { render } from 'preact'
import './connect.css'
import { executors } from './executor.ts'
import { createFlow, type Screen } from './flow.ts'
import { type Fragment, readFragment } from './link.ts'
import { Page } from './page.tsx'
import { openServer } from './server.ts'
import { tabStorage } from './tab-storage.ts'

/** The token leaves the address bar and the history before anything else happens. */
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

// Without HTTPS a browser gives a page no cryptography.
if (isSecureContext) open()
else show({ at: 'end', end: 'insecure', returnUrl: null, product: null })

// Another link, opened where this page is already: the browser loads nothing anew.
addEventListener('hashchange', () => {
  if (!isSecureContext || location.hash === '') return
  fragment = takeFragment()
  open()
})
