// Starts the page. No other script does anything when it is loaded.

import { start } from "./start.js";
import { fail } from "./view.js";

// The function is looked up for each request, since a static site answers in its place.
start((path, options) => fetch(path, options)).catch(fail);
