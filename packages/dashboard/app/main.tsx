import '@mantine/core/styles.css'
import './app.css'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { redirectToLocalhost } from './localhost.ts'
import { installTrustedTypes } from './trusted-types.ts'

installTrustedTypes()
if (!redirectToLocalhost()) createRoot(document.getElementById('root') as HTMLElement).render(<App />)
