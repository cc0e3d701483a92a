import '@mantine/core/styles.css'
import './look/tokens.css'
import './look/mantine.css'
import './look/base.css'
import './look/page.css'
import './frame/sidebar.css'
import './ui/list.css'
import './app.css'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { redirectToLocalhost } from './localhost.ts'
import { installTrustedTypes } from './trusted-types.ts'

installTrustedTypes()
// In an insecure context, public/secure-context.js has already explained why the page cannot work.
if (isSecureContext && !redirectToLocalhost())
  createRoot(document.getElementById('root') as HTMLElement).render(<App />)
