import '@mantine/core/styles.css'
import './app.css'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { redirectToLocalhost } from './localhost.ts'
import { installTrustedTypes } from './trusted-types.ts'

installTrustedTypes()
// Elsewhere the page says already why it cannot work (public/secure-context.js).
if (isSecureContext && !redirectToLocalhost())
  createRoot(document.getElementById('root') as HTMLElement).render(<App />)
